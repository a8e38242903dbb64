import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { authority } from '../../network/index.ts'
import { definitionFolder } from './custom-definitions.ts'
import { definitionJson, definitionOf } from './definition.fixture.ts'
import { digestOfDefinitions } from './definition-files.ts'
import { openProviders, type Providers } from './open-providers.ts'

let dir: string
let bundledDir: string
let customDir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'broker-providers-'))
  bundledDir = join(dir, 'bundled')
  customDir = join(dir, 'home', 'providers')
  mkdirSync(bundledDir)
  write(bundledDir, { name: 'alpha', hosts: ['alpha.test'] })
  write(bundledDir, { name: 'beta', hosts: ['beta.test', '*.beta.test'] })
})

afterEach(() => rmSync(dir, { recursive: true }))

function write(into: string, overrides: Readonly<Record<string, unknown>>): void {
  writeText(into, `${overrides['name']}.json`, JSON.stringify(definitionJson(overrides)))
}

function writeText(into: string, file: string, text: string): void {
  mkdirSync(into, { recursive: true })
  writeFileSync(join(into, file), text, { mode: 0o600 })
}

function writeForAll(path: string): void {
  writeFileSync(path, '{}')
  chmodSync(path, 0o666)
}

function open(): Providers {
  return openProviders({ bundledDir, custom: definitionFolder(customDir) })
}

function names(providers: Providers): readonly string[] {
  return providers.list().map(({ definition, source }) => `${definition.name} ${source}`)
}

function matched(providers: Providers, host: string): string {
  const match = providers.match({ ...authority(host, 443), path: '/' })
  return match.kind === 'one' ? match.provider.definition.name : match.kind
}

describe('providers', () => {
  it('are there without any of one’s own', () => {
    const providers = open()
    assert.deepEqual(names(providers), ['alpha bundled', 'beta bundled'])
    assert.deepEqual(providers.health(), { issues: [], warnings: [] })
    assert.equal(matched(providers, 'x.beta.test'), 'beta')
  })

  it('are registered for this daemon and the next', async () => {
    const providers = open()
    assert.deepEqual(await providers.register(definitionOf({ name: 'aa.own' }), { force: false }), { warnings: [] })
    assert.deepEqual(names(providers), ['aa.own custom', 'alpha bundled', 'beta bundled'])
    assert.equal(matched(providers, 'api.prov.test'), 'aa.own')
    assert.equal(matched(open(), 'api.prov.test'), 'aa.own')
  })

  it('are written for their owner alone, whole, with nothing left beside them', async () => {
    await open().register(definitionOf({ name: 'own' }), { force: false })
    assert.deepEqual(readdirSync(customDir), ['own.json'])
    assert.equal(statSync(join(customDir, 'own.json')).mode & 0o777, 0o600)
    assert.equal(statSync(customDir).mode & 0o777, 0o700)
  })

  for (const [what, overrides] of [
    ['name', { name: 'alpha' }],
    ['host', { name: 'own', hosts: ['alpha.test'] }],
    ['part of a host', { name: 'own', hosts: ['alpha.test/v1/*'] }],
    ['host below a wildcard', { name: 'own', hosts: ['x.beta.test'] }],
    ['wildcard above a host', { name: 'own', hosts: ['*.beta.test'] }],
  ] as const)
    it(`are not registered for a ${what} that is taken`, async () => {
      const providers = open()
      await assert.rejects(providers.register(definitionOf(overrides), { force: false }), {
        name: 'ProviderAlreadyRegisteredError',
      })
      assert.deepEqual(names(open()), ['alpha bundled', 'beta bundled'])
    })

  it('share a host where their paths are apart', async () => {
    const providers = open()
    await providers.register(definitionOf({ name: 'one', hosts: ['shared.test/one/*'] }), { force: false })
    assert.deepEqual(
      await providers.register(definitionOf({ name: 'two', hosts: ['shared.test/two/*'] }), { force: false }),
      {
        warnings: [],
      },
    )
  })

  it('have a host beside another where one is more specific, and never where both fit a request equally', async () => {
    const providers = open()
    const beside = (name: string, ...hosts: string[]) =>
      providers.register(definitionOf({ name, hosts }), { force: false, beside: true })
    assert.deepEqual(await beside('part', 'alpha.test/v1/*'), { warnings: [] })
    assert.deepEqual(await beside('below', 'x.beta.test'), { warnings: [] })
    for (const [name, host] of [
      ['whole', 'alpha.test'],
      ['twin', 'alpha.test/v1/*'],
      ['part', 'other.test'],
    ] as const)
      await assert.rejects(beside(name, host), { name: 'ProviderAlreadyRegisteredError' })
  })

  it('are never guessed between when a host was taken by force', async () => {
    const providers = open()
    const { warnings } = await providers.register(definitionOf({ name: 'own', hosts: ['alpha.test'] }), { force: true })
    assert.deepEqual(warnings, ['alpha.test belongs to provider "alpha" too'])
    assert.equal(matched(providers, 'alpha.test'), 'tie')
    assert.deepEqual(providers.health().warnings, [
      'Providers "alpha" and "own" both match alpha.test: nothing is injected there',
    ])
  })

  it('override a bundled one by force, and give it back', async () => {
    const providers = open()
    await providers.register(definitionOf({ name: 'alpha', hosts: ['other.test'] }), { force: true })
    assert.deepEqual(names(providers), ['alpha custom', 'beta bundled'])
    assert.equal(providers.find('alpha')?.overridesBundled, true)
    assert.equal(matched(providers, 'alpha.test'), 'none')
    assert.deepEqual(providers.health(), {
      issues: [],
      warnings: ['Custom provider "alpha" overrides the bundled one of the same name'],
    })
    assert.equal(await providers.remove('alpha'), 'reset')
    assert.equal(matched(providers, 'alpha.test'), 'alpha')
    assert.equal(await providers.remove('alpha'), 'reset')
  })

  it('are removed for good', async () => {
    const providers = open()
    await providers.register(definitionOf({ name: 'own' }), { force: false })
    assert.equal(await providers.remove('own'), 'removed')
    assert.equal(providers.find('own'), undefined)
    assert.deepEqual(readdirSync(customDir), [])
  })

  for (const name of ['gone', '../alpha', 'constructor', '__proto__', ''])
    it(`are not found by the name ${JSON.stringify(name)}`, async () => {
      assert.equal(open().find(name), undefined)
      await assert.rejects(open().remove(name), { name: 'ProviderNotFoundError' })
      assert.equal(open().match(authority('alpha.test', 443)).kind, 'one')
    })

  it('are seen when a file was put there by hand', () => {
    const providers = open()
    write(customDir, { name: 'own' })
    assert.deepEqual(names(providers), ['alpha bundled', 'beta bundled', 'own custom'])
    assert.equal(matched(providers, 'api.prov.test'), 'own')
  })

  for (const [what, file, text] of [
    ['no JSON', 'own.json', '{"CNRY'],
    ['half written', 'own.json', JSON.stringify(definitionJson({ name: 'own', description: 'CNRY' })).slice(0, -9)],
    ['empty', 'own.json', ''],
    ['begun by a byte order mark', 'own.json', `\uFEFF${JSON.stringify(definitionJson({ name: 'own' }))}`],
    ['ambiguous', 'own.json', JSON.stringify(definitionJson({ name: 'own' })).replace('{', '{"name":"CNRY",')],
    ['nested without end', 'own.json', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['invalid', 'own.json', JSON.stringify(definitionJson({ name: 'own', hosts: ['CNRY'] }))],
    ['of another name', 'other.json', JSON.stringify(definitionJson({ name: 'own' }))],
    ['an array', 'own.json', '["CNRY"]'],
  ] as const)
    it(`are an issue that names the file when it is ${what}; the others load`, () => {
      writeText(customDir, file, text)
      write(customDir, { name: 'fine' })
      const providers = open()
      const { issues, warnings } = providers.health()
      assert.equal(issues.length, 1)
      assert.equal(issues[0]?.startsWith(`Provider file "${file}" is not loaded: `), true)
      assert.doesNotMatch(issues.join(), /CNRY/)
      assert.equal(issues.join().includes(dir), false)
      assert.deepEqual(warnings, [])
      assert.deepEqual(names(providers), ['alpha bundled', 'beta bundled', 'fine custom'])
    })

  for (const [what, spoil] of [
    ['a link', (path: string) => symlinkSync(join(bundledDir, 'alpha.json'), path)],
    ['a directory', (path: string) => mkdirSync(path)],
    ['writable by others', writeForAll],
    ['too large', (path: string) => writeFileSync(path, ' '.repeat(300_000))],
  ] as const)
    it(`are ignored with a warning when the file is ${what}; the others load`, () => {
      write(customDir, { name: 'fine' })
      spoil(join(customDir, 'own.json'))
      const providers = open()
      const { issues, warnings } = providers.health()
      assert.deepEqual(issues, [])
      assert.match(warnings.join(), /^Provider file "own\.json" is ignored: it [^/]*$/)
      assert.deepEqual(names(providers), ['alpha bundled', 'beta bundled', 'fine custom'])
    })

  for (const [change, what] of [
    [() => writeText(bundledDir, 'alpha.json', '{"name": "alpha"}'), 'a file is another'],
    [() => writeText(bundledDir, 'gamma.json', '{"name": "gamma"}'), 'a file is new'],
    [() => renameSync(join(bundledDir, 'alpha.json'), join(bundledDir, 'gamma.json')), 'a file has another name'],
  ] as const)
    it(`are checked once for all as they were shipped, and again where ${what}`, () => {
      const checked = digestOfDefinitions(bundledDir)
      const openChecked = () => openProviders({ bundledDir, custom: definitionFolder(customDir), checked })
      assert.deepEqual(openChecked().list(), open().list())
      change()
      assert.deepEqual(openChecked().health(), open().health())
      assert.equal(openChecked().health().issues.length, 1)
    })

  it('are ignored with a warning when the file belongs to another user', {
    skip: process.getuid?.() === 0 ? false : 'only root can give a file away',
  }, () => {
    write(customDir, { name: 'own' })
    chownSync(join(customDir, 'own.json'), 65_534, 65_534)
    assert.deepEqual(open().health().warnings, ['Provider file "own.json" is ignored: it belongs to another user'])
  })

  it('replace a planted link and leave what it points to alone', async () => {
    const target = join(dir, 'target')
    writeFileSync(target, 'untouched')
    mkdirSync(customDir, { recursive: true })
    symlinkSync(target, join(customDir, 'own.json'))
    const providers = open()
    await providers.register(definitionOf({ name: 'own' }), { force: false })
    assert.equal(readFileSync(target, 'utf8'), 'untouched')
    assert.deepEqual(providers.health(), { issues: [], warnings: [] })
  })

  it('can be removed when their file is broken', async () => {
    writeText(customDir, 'own.json', '{')
    const providers = open()
    assert.equal(await providers.remove('own'), 'removed')
    assert.deepEqual(providers.health().issues, [])
  })

  it('are checked again when they are registered', async () => {
    const hostile = { ...definitionOf({ name: 'own' }), hosts: ['*.com'] }
    await assert.rejects(open().register(hostile, { force: true }), { name: 'InvalidRequestError' })
  })
})
