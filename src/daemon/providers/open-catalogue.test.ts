import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { catalogueText, type Signer, signer } from '../../../test/signed-catalogue.ts'
import { authority } from '../../network/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import { definitionFolder } from './custom-definitions.ts'
import { definitionJson } from './definition.fixture.ts'
import type { CatalogueOptions } from './open-catalogue.ts'
import { openProviders, type Providers } from './open-providers.ts'
import { SHIPPED_CATALOGUE } from './shipped-catalogue.ts'

const NOW = Date.parse('2026-12-10T00:00:00Z')
const named = (name: string, more: object = {}) => definitionJson({ name, hosts: [`${name}.test.example`], ...more })

/** A home with two shipped definitions, and what it takes to open it again as another release would. */
function home(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  let kept: string | undefined
  const write = (text: string) => {
    kept = text
  }
  const store = { read: () => kept, write: async (text: string) => write(text) }
  const bundledDir = mkdtempSync(join(root, 'bundled-'))
  for (const name of ['one', 'two']) writeFileSync(join(bundledDir, `${name}.json`), JSON.stringify(named(name)))
  const open = (options: Partial<CatalogueOptions> = {}) =>
    openProviders({
      bundledDir,
      custom: definitionFolder(join(root, 'custom')),
      updates: { store, shippedVersion: '2026-11-22.1', projectKeys: [], now: () => NOW, ...options },
    })
  return { open, kept: () => kept, spoil: write }
}

async function update(providers: Providers, text: string, pem?: string) {
  const plan = providers.planUpdate(text, pem)
  await plan.apply()
  return plan
}

function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof BrokerError, String(error))
    return `${error.name}: ${error.message}`
  }
  assert.fail('it was taken')
}

const namesOf = (providers: Providers) => providers.list().map(({ definition }) => definition.name)

test('definitions of a signed file stand before the shipped ones, which are bundled all the same', async (t) => {
  const { open } = home(t)
  const ours = signer()
  const text = catalogueText([ours], {
    definitions: [named('two', { display_name: 'Newer' }), named('three')],
    removed: ['one'],
  })
  const providers = open()
  const { difference } = await update(providers, text, ours.pem)

  assert.deepEqual(namesOf(providers), ['three', 'two'])
  assert.equal(providers.get('two').definition.display_name, 'Newer')
  assert.equal(providers.get('three').source, 'bundled')
  assert.equal(providers.match(authority('one.test.example', 443)).kind, 'none')
  assert.deepEqual(difference, {
    added: [{ name: 'three', hosts: ['three.test.example'] }],
    changed: ['two'],
    removed: ['one'],
    moved: [],
  })
  assert.deepEqual(namesOf(open()), ['three', 'two'], 'after a restart')
  await providers.planReset().apply()
  assert.deepEqual(namesOf(providers), ['one', 'two'])
})

test('a definition of your own stands before all', async (t) => {
  const { open } = home(t)
  const ours = signer()
  const providers = open()
  await providers.register(providers.validate(named('two', { display_name: 'Own' })), { force: true })
  const { overridden } = await update(
    providers,
    catalogueText([ours], { definitions: [named('two', { hosts: ['x.example'] })] }),
    ours.pem,
  )

  assert.deepEqual(overridden, ['two'])
  assert.equal(providers.get('two').definition.display_name, 'Own')
})

test('what sends credentials elsewhere is told', (t) => {
  const ours = signer()
  const moved = [named('one', { hosts: ['one.evil.example'] }), named('two', { display_name: 'Two' })]
  const { difference } = home(t)
    .open()
    .planUpdate(catalogueText([ours], { definitions: moved }), ours.pem)

  assert.deepEqual(difference.changed, ['one', 'two'])
  assert.deepEqual(
    difference.moved.map(({ name, added, removed }) => [name, added.hosts, removed.hosts]),
    [['one', ['one.evil.example'], ['one.test.example']]],
  )
})

test('only what a trusted key has signed is read, byte for byte', async (t) => {
  const { open, kept } = home(t)
  const [ours, theirs] = [signer(), signer()]
  const providers = open({ projectKeys: [ours.pem] })
  const good = catalogueText([ours], { definitions: [named('three')] })
  const { payload, signatures, format } = JSON.parse(good)
  const other = JSON.parse(catalogueText([theirs], { definitions: [named('evil')] }))
  const refused: readonly (readonly [string, unknown])[] = [
    ['signed by nobody known', other],
    ['another payload', { format, payload: other.payload, signatures }],
    ['a signature of another key under this one', { ...other, signatures: [{ ...other.signatures[0], key: ours.id }] }],
    ['this signature under another key', { format, payload, signatures: [{ ...signatures[0], key: theirs.id }] }],
    ['no signature', { format, payload, signatures: [] }],
    ['an empty one', { format, payload, signatures: [{ key: ours.id, signature: 'AA' }] }],
    ['of another format', { format: 'broker-catalogue/2', payload, signatures }],
    ['with more in it', { format, payload, signatures, definitions: [] }],
    ['padded', { format, payload: `${payload}=`, signatures }],
    ['cut', { format, payload: payload.slice(0, -4), signatures }],
  ]
  for (const [what, file] of refused) {
    assert.match(
      refusalOf(() => providers.planUpdate(JSON.stringify(file), undefined)),
      /^(?:OperationNotAllowed|InvalidRequest)Error/,
      what,
    )
  }
  for (const text of ['', 'x', 'null', '[]', '{"format":"broker-catalogue/1","format":"x"}']) {
    assert.match(
      refusalOf(() => providers.planUpdate(text, undefined)),
      /not a catalogue file/,
    )
  }
  assert.equal(kept(), undefined)
  await update(providers, good)
  assert.ok(namesOf(providers).includes('three'))
})

test('a key of the operator is named once, and known by itself until the reset', async (t) => {
  const { open } = home(t)
  const [ours, theirs] = [signer(), signer()]
  const providers = open()
  const at = (version: string, by: Signer) =>
    catalogueText([by], { catalogue_version: version, definitions: [named(by === ours ? 'ours' : 'theirs')] })

  assert.match(
    refusalOf(() => providers.planUpdate(at('2026-12-01.1', ours), undefined)),
    new RegExp(ours.id),
  )
  await update(providers, at('2026-12-01.1', ours), ours.pem)
  await update(open(), at('2026-12-02.1', ours))
  assert.match(
    refusalOf(() => open().planUpdate(at('2026-12-03.1', theirs), undefined)),
    /not trusted/,
  )
  const plan = open().planUpdate(at('2026-12-01.1', theirs), theirs.pem)
  assert.equal(plan.ready?.keyBefore, ours.id)
  await plan.apply()
  assert.deepEqual(namesOf(open()), ['one', 'theirs', 'two'])
  const again = open()
  await again.planReset().apply()
  assert.match(
    refusalOf(() => again.planUpdate(at('2026-12-04.1', theirs), undefined)),
    /not trusted/,
  )
  for (const pem of [ours.privatePem, 'x', '']) {
    assert.match(
      refusalOf(() => again.planUpdate(at('2026-12-04.1', ours), pem)),
      /no public Ed25519 key/,
    )
  }
})

test('an older file is refused, also after a reset; the same one is not', async (t) => {
  const { open } = home(t)
  const ours = signer()
  const at = (version: string, name = 'three') =>
    catalogueText([ours], { catalogue_version: version, definitions: [named(name)] })
  await update(open(), at('2026-12-02.10'), ours.pem)

  for (const [version, name] of [
    ['2026-12-02.9', 'three'],
    ['2026-12-01.11', 'three'],
    ['2025-12-03.1', 'three'],
    ['2026-12-02.10', 'other'],
  ] as const) {
    assert.match(
      refusalOf(() => open().planUpdate(at(version, name), ours.pem)),
      /^OperationNotAllowedError: Cannot use the catalogue/,
    )
  }
  assert.equal(open().planUpdate(at('2026-12-02.10'), ours.pem).ready?.isInUse, true)
  const providers = open()
  await providers.planReset().apply()
  assert.match(
    refusalOf(() => open().planUpdate(at('2026-12-02.9'), ours.pem)),
    /older than 2026-12-02\.10/,
  )
  await update(open(), at('2026-12-02.10'), ours.pem)
  await update(open(), at('2026-12-02.11'))
  assert.deepEqual(namesOf(open()), ['one', 'three', 'two'])
})

test('a file that has expired, or is of a day to come, is not taken; one in use stays, and that is said', async (t) => {
  const { open } = home(t)
  const ours = signer()
  const until = (expires_at: string) => catalogueText([ours], { expires_at, definitions: [named('three')] })

  assert.match(
    refusalOf(() => open().planUpdate(until('2026-12-09T00:00:00Z'), ours.pem)),
    /expired on 2026-12-09/,
  )
  const coming = catalogueText([ours], { catalogue_version: '2027-12-01.1' })
  assert.match(
    refusalOf(() => open().planUpdate(coming, ours.pem)),
    /a day to come/,
  )
  await update(open(), until('2026-12-11T00:00:00Z'), ours.pem)
  const later = open({ now: () => NOW + 10 * 86_400_000 })
  assert.deepEqual(namesOf(later), ['one', 'three', 'two'])
  assert.match(later.health().warnings.join(), /has expired on 2026-12-11/)
})

test("a release takes the place of the project's older file, and not of the operator's own", async (t) => {
  const { open } = home(t)
  const [project, ours] = [signer(), signer()]
  const projectKeys = [project.pem]
  const of = (by: Signer, name: string, version = '2026-12-01.1') =>
    catalogueText([by], {
      catalogue_version: version,
      definitions: [named(name), named('one', { display_name: name })],
    })
  await update(open({ projectKeys }), of(project, 'of-project'))
  await update(open({ projectKeys }), of(ours, 'of-operator'), ours.pem)

  const before = open({ projectKeys })
  assert.deepEqual(namesOf(before), ['of-operator', 'of-project', 'one', 'two'])
  assert.equal(before.get('one').definition.display_name, 'of-operator')
  const after = open({ projectKeys, shippedVersion: '2026-12-05.1' })
  assert.deepEqual(namesOf(after), ['of-operator', 'one', 'two'])
  assert.match(
    refusalOf(() => after.planUpdate(of(project, 'x', '2026-12-05.1'), undefined)),
    /not newer than 2026-12-05\.1/,
  )
  const retired = open({ projectKeys: [] })
  assert.deepEqual(namesOf(retired), ['of-operator', 'one', 'two'], 'a key that a release has dropped signs no more')
  assert.match(retired.health().warnings.join(), /is not used any more/)
})

test('a key takes the place of another while both sign', async (t) => {
  const { open } = home(t)
  const [old, next] = [signer(), signer()]
  const both = catalogueText([old, next], { definitions: [named('three')] })

  await update(open({ projectKeys: [old.pem] }), both)
  assert.deepEqual(namesOf(open({ projectKeys: [next.pem] })), ['one', 'three', 'two'])
})

test('one definition that cannot be used, and two that tie, refuse the whole file', (t) => {
  const { open, kept } = home(t)
  const ours = signer()
  const refused: readonly (readonly [readonly unknown[], RegExp])[] = [
    [[named('three'), named('four', { hosts: ['*.com'] })], /a definition that cannot be used/],
    [[named('three'), named('three')], /a definition that cannot be used/],
    [[named('three', { source: 'bundled' })], /a definition that cannot be used/],
    [[named('three', { hosts: ['one.test.example'] })], /both match one\.test\.example/],
    [[null], /a definition that cannot be used/],
  ]
  for (const [definitions, why] of refused) {
    assert.match(
      refusalOf(() => open().planUpdate(catalogueText([ours], { definitions }), ours.pem)),
      why,
    )
  }
  for (const content of [
    { removed: ['../x'] },
    { made_at: 'today' },
    { catalogue_version: '2026-13-01.1' },
    { catalogue_version: '2026-12-01.01' },
    { more: 1 },
  ]) {
    assert.match(
      refusalOf(() => open().planUpdate(catalogueText([ours], content), ours.pem)),
      /not a catalogue file: payload/,
    )
  }
  assert.equal(kept(), undefined)
})

test('a state that is damaged keeps nothing from starting', async (t) => {
  const { open, spoil, kept } = home(t)
  const ours = signer()
  await update(open(), catalogueText([ours], { definitions: [named('three')] }), ours.pem)
  const whole = kept() ?? ''
  const changed = JSON.parse(whole)
  changed.installed[0].file = changed.installed[0].file.replace(/"payload": "../, '"payload": "AA')

  for (const text of ['x', '{}', whole.slice(0, -9), JSON.stringify(changed)]) {
    spoil(text)
    assert.deepEqual(namesOf(open()), ['one', 'two'])
    assert.notDeepEqual(open().health().warnings, [])
  }
  await open().planReset().apply()
  assert.deepEqual(open().health().warnings, [])
})

test('the shipped catalogue is no older than the definitions in it', () => {
  const folder = join(import.meta.dirname, '../../../providers')
  const days = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).last_verified ?? '',
  )

  assert.ok(SHIPPED_CATALOGUE.slice(0, 10) >= (days.toSorted().at(-1) ?? ''), 'make SHIPPED_CATALOGUE later')
})
