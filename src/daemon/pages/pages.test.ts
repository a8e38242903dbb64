import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Field } from '../../schemas/index.ts'
import { apiDocsPage } from './api-docs-page.ts'
import { docsScript, stylesheet } from './assets.ts'
import { inputPage } from './input-page.ts'
import { notFoundPage, resultPage } from './result-page.ts'

const HOSTILE = `"><script>alert('x')</script>&<img src=x onerror=alert(1)>\u0000`
const KEY: Field = { name: 'api_key', label: 'API key', secret: true, required: true }

function page(overrides: Partial<Parameters<typeof inputPage>[0]> = {}): string {
  return inputPage({
    displayName: 'Prov',
    connection: 'default',
    fields: [KEY],
    action: '/api/auth/sessions/abc/input',
    csrf: 'token',
    ...overrides,
  })
}

describe('every page', () => {
  const hostileField: Field = { name: 'api_key', label: HOSTILE, secret: true, required: true, help: HOSTILE }
  for (const [what, markup] of [
    [
      'the form',
      inputPage({
        displayName: HOSTILE,
        connection: HOSTILE,
        fields: [hostileField],
        action: HOSTILE,
        csrf: HOSTILE,
        docsUrl: HOSTILE,
        error: HOSTILE,
        fieldErrors: { api_key: HOSTILE },
      }),
    ],
    ['the result', resultPage({ title: HOSTILE, message: HOSTILE, tone: 'failure' })],
  ] as const)
    it(`shows hostile text as text: ${what}`, () => {
      assert.doesNotMatch(markup, /<script|<img|'x'|\u0000/)
      assert.match(markup, /&quot;&gt;&lt;script&gt;alert\(&#39;x&#39;\)&lt;\/script&gt;&amp;&lt;img/)
    })

  for (const [what, markup] of [
    ['the form', page()],
    ['the result', resultPage({ title: 'Done', message: 'Done', tone: 'success' })],
    ['nothing found', notFoundPage()],
    ['the documentation', apiDocsPage()],
  ] as const)
    it(`obeys its own policy: ${what}`, () => {
      assert.doesNotMatch(markup, /<style|style=|\son[a-z]+=|<script(?![^>]* src="\/)|(?:src|href)="(?:https?:)?\/\//)
    })
})

describe('the form', () => {
  it('hides what is secret and shows what is not, and holds no value', () => {
    const markup = page({ fields: [{ ...KEY, name: 'account', secret: false, required: false }, KEY] })
    const inputs = [...markup.matchAll(/<input [^>]*>/g)].map(([input]) => input)
    assert.equal(inputs.length, 3)
    assert.match(inputs[0] ?? '', /type="hidden" name="csrf" value="token"/)
    assert.match(inputs[1] ?? '', /name="account" type="text" autocomplete="off"/)
    assert.match(inputs[2] ?? '', /name="api_key" type="password" autocomplete="off".* required/)
    assert.doesNotMatch(inputs.slice(1).join(), /value=/)
    assert.doesNotMatch(inputs[1] ?? '', /required/)
  })

  it('names every field, and what is wrong with it, to a screen reader', () => {
    const markup = page({ fields: [{ ...KEY, help: 'Begins with sk-' }], fieldErrors: { api_key: 'is required' } })
    assert.match(markup, /<label for="field-api_key">API key<\/label>/)
    assert.match(markup, /aria-describedby="field-api_key-help field-api_key-wrong" aria-invalid="true" autofocus/)
    assert.match(markup, /id="field-api_key-help">Begins with sk-</)
    assert.match(markup, /id="field-api_key-wrong">is required</)
  })

  it('says what went wrong as an alert', () => {
    assert.match(page({ error: 'Try again' }), /<p class="alert" role="alert">Try again<\/p>/)
    assert.doesNotMatch(page(), /role="alert"/)
  })

  it('takes no error from the prototype of objects', () => {
    assert.doesNotMatch(page({ fields: [{ ...KEY, name: 'constructor' }] }), /aria-invalid/)
  })

  it('opens where keys are made without saying where from', () => {
    assert.match(
      page({ docsUrl: 'https://prov.test/keys' }),
      /href="https:\/\/prov\.test\/keys" target="_blank" rel="noopener noreferrer"/,
    )
  })
})

describe('the files of the pages', () => {
  it('are the ones that the pages name', () => {
    assert.ok(page().includes(`<link rel="stylesheet" href="${stylesheet.path}">`))
    assert.ok(apiDocsPage().includes(`<script src="${docsScript.path}" defer>`))
  })
})

describe('what is finished, expired or unknown', () => {
  it('is one and the same page', () => {
    assert.equal(notFoundPage(), notFoundPage())
  })
})
