import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { root } from './source-files.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const all = (...patterns: string[]) => globSync(patterns, { cwd: root })

describe('the pages for people who join', () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'ARCHITECTURE.md',
    ...all('docs/*.md', 'docs/decisions/*.md'),
  ]

  for (const page of pages)
    it(`link to what is there: ${page}`, () => {
      const targets = [...read(page).matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, target = '']) => target)
      assert.deepEqual(
        targets.filter((target) => !existsSync(join(root, dirname(page), target))),
        [],
      )
    })

  for (const page of ['CONTRIBUTING.md', 'docs/releasing.md'])
    it(`name files and scripts that are there: ${page}`, () => {
      const named = [
        ...read(page).matchAll(/`((?:src|test|tools|docs|providers|bin|schemas|\.ci|\.github)\/[^`<> ]*)`/g),
      ]
      const scripts = [...read(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name)
      assert.deepEqual(
        named.flatMap(([, path = '']) => (all(path.replace(/\/$/, '')).length === 0 ? path : [])),
        [],
      )
      const bare = [...read(page).matchAll(/`([\w.-]+\.tsx?)`/g)].map(([, name = '']) => name)
      assert.deepEqual(
        bare.filter((name) => all(`{src,test,tools}/**/${name}`).length === 0),
        [],
      )
      assert.deepEqual(
        scripts.filter((name) => !(name in JSON.parse(read('package.json')).scripts)),
        [],
      )
    })

  it('say of each change that comes next which files it touches', () => {
    const headings = [...read('CONTRIBUTING.md').matchAll(/^#{2,3} (.+)$/gm)].map(([, heading]) => heading)
    for (const change of [
      'A quirk of OAuth',
      'A login flow',
      'A place for credentials',
      'A command',
      'Something that daemons share',
      'A column on connections',
      'A policy check',
    ])
      assert.ok(headings.includes(change), change)
  })
})

describe('the glossary', () => {
  const sections = () => read('docs/glossary.md').split(/^## /m).slice(1)
  const termsIn = (text: string) => [...text.matchAll(/^\*\*([^*]+)\*\* /gm)].map(([, term = '']) => term)

  it('has each word once, and those of a section in the order of the alphabet', () => {
    const terms = sections().flatMap(termsIn)
    assert.ok(terms.length > 50)
    assert.deepEqual(
      terms.filter((term, at) => terms.indexOf(term) !== at),
      [],
    )
    for (const section of sections()) assert.deepEqual(termsIn(section), termsIn(section).toSorted())
  })

  it('names files that are there', () => {
    const files = [...read('docs/glossary.md').matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path)
    assert.ok(files.length > 20)
    assert.deepEqual(
      files.filter((path) => all(path, `src/${path}`, `src/daemon/${path}`, `src/**/${path}`).length === 0),
      [],
    )
  })

  it('is found from the first page and from the one for people who join', () => {
    for (const page of ['README.md', 'CONTRIBUTING.md']) assert.ok(read(page).includes('](docs/glossary.md)'), page)
  })
})
