import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Field } from '../../schemas/index.ts'
import { apiDocsPage } from './api-docs-page.ts'
import { docsScript, stylesheet } from './assets.ts'
import { devicePage } from './device-page.ts'
import { inputPage } from './input-page.ts'
import { leadOnPage } from './lead-on-page.ts'
import { notFoundPage, resultPage } from './result-page.ts'

const HOSTILE = `"><script>alert('x')</script>&<img src=x onerror=alert(1)>\u0000`
const KEY: Field = { name: 'api_key', label: 'API key', secret: true, required: true }

function page(overrides: Partial<Parameters<typeof inputPage>[0]> = {}): string {
  return inputPage({
    displayName: 'Prov',
    connection: 'default',
    asksFor: 'credential',
    fields: [KEY],
    action: '/api/auth/sessions/abc/input',
    csrf: 'token',
    ...overrides,
  })
}

function device(overrides: Partial<Parameters<typeof devicePage>[0]> = {}): string {
  return devicePage({
    displayName: 'Prov',
    connection: 'default',
    userCode: 'WDJB-MJHT',
    verificationUri: 'https://prov.test/device',
    secondsLeft: 540,
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
        asksFor: 'credential',
        fields: [hostileField],
        action: HOSTILE,
        csrf: HOSTILE,
        docsUrl: HOSTILE,
        error: HOSTILE,
        fieldErrors: { api_key: HOSTILE },
      }),
    ],
    ['the form for an app', page({ displayName: HOSTILE, asksFor: 'app', redirectUri: HOSTILE, docsUrl: HOSTILE })],
    ['the code', device({ displayName: HOSTILE, connection: HOSTILE, userCode: HOSTILE })],
    ['the way on', leadOnPage({ displayName: HOSTILE, url: `https://prov.test/${HOSTILE}` })],
    ['the result', resultPage({ title: HOSTILE, message: HOSTILE, hint: HOSTILE, tone: 'failure' })],
  ] as const)
    it(`shows hostile text as text: ${what}`, () => {
      assert.doesNotMatch(markup, /<script|<img|'x'|\u0000/)
      assert.match(markup, /&quot;&gt;&lt;script&gt;alert\(&#39;x&#39;\)&lt;\/script&gt;&amp;&lt;img/)
    })

  for (const [what, markup] of [
    ['the form', page()],
    ['the form for an app', page({ asksFor: 'app', redirectUri: 'http://127.0.0.1:7998/auth/callback/oauth' })],
    ['the code', device()],
    ['the way on', leadOnPage({ displayName: 'Prov', url: 'https://prov.test/authorize' })],
    ['the result', resultPage({ title: 'Done', message: 'Done', tone: 'success' })],
    ['nothing found', notFoundPage()],
    ['the documentation', apiDocsPage()],
  ] as const)
    it(`obeys its own policy: ${what}`, () => {
      assert.doesNotMatch(
        markup,
        /<style|style=|\son[a-z]+=|<script(?![^>]* src="\/)|src="(?:https?:)?\/\/|<link[^>]* href="(?!\/)/,
      )
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

  it('has room for a key file, whose text is never in it', () => {
    const markup = page({ fields: [{ ...KEY, name: 'private_key', multiline: true }] })
    assert.match(markup, /<textarea id="field-private_key" name="private_key" rows="6" [^>]*required[^>]*><\/textarea>/)
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

describe('the form for an app', () => {
  it('says where the app sends the browser back to, in a field that is not posted', () => {
    const markup = page({ asksFor: 'app', redirectUri: 'http://127.0.0.1:7998/auth/callback/oauth' })
    const [field = ''] = markup.match(/<textarea id="redirect-uri".*<\/textarea>/) ?? []
    assert.match(field, / readonly .*>http:\/\/127\.0\.0\.1:7998\/auth\/callback\/oauth</)
    assert.doesNotMatch(field, / name=/)
  })
})

describe('the code', () => {
  it('can be selected as a whole, and is spelled out to a screen reader', () => {
    const markup = device()
    assert.match(markup, /<input id="code"[^>]* readonly value="WDJB-MJHT"[^>]* aria-describedby="code-spelled"/)
    assert.match(markup, /id="code-spelled">Spelled out: W, D, J, B, dash, M, J, H, T</)
  })

  it('leads to the provider with the code in the address where it has one, and says where that is', () => {
    const complete = 'https://prov.test/device?user_code=WDJB-MJHT'
    for (const [markup, href] of [
      [device(), 'https://prov.test/device'],
      [device({ verificationUriComplete: complete }), complete],
    ] as const) {
      assert.ok(markup.includes(`<a class="button" href="${href}" target="_blank" rel="noopener noreferrer">`))
      assert.match(markup, /<strong>https:\/\/prov\.test<\/strong>/)
    }
  })

  it('warns of a login that somebody else began', () => {
    assert.match(device(), /Only continue if you started this login yourself/)
  })

  it('says how long it is good for', () => {
    assert.match(device({ secondsLeft: 540 }), /good for 9 more minutes/)
    assert.match(device({ secondsLeft: 20 }), /good for one more minute\./)
  })
})

describe('the way on', () => {
  it('goes by itself, and by a link', () => {
    const markup = leadOnPage({ displayName: 'Prov', url: 'https://prov.test/authorize?a=1&b=2' })
    assert.match(markup, /<meta http-equiv="refresh" content="0;url=https:\/\/prov\.test\/authorize\?a=1&amp;b=2">/)
    assert.match(markup, /<a class="button" href="https:\/\/prov\.test\/authorize\?a=1&amp;b=2"/)
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
