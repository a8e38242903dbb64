import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { type Actor, Secret } from '../../protocol/index.ts'
import { temporaryFolder } from '../connections/rooms.fixture.ts'
import type { Provider } from '../providers/index.ts'
import type { SharedCache } from '../shared-cache/index.ts'
import { openStore, type Store } from '../store/index.ts'
import { openVault, systemKeyring, type Vault } from '../vault/index.ts'
import { ended, newSession, polledLater, type Session, taken } from './session.ts'
import type { AskedElsewhere, SessionRegistry } from './session-registry.ts'
import { openSharedRegistry } from './shared-registry.ts'
import type { WaitingStep } from './step.ts'

const actor: Actor = {
  kind: 'identity',
  identity: 'ada',
  identityId: 'id-ada',
  did: 'did:key:z',
  principalId: 'ada',
  vaultId: 'vault',
  role: 'user',
}

const provider: Provider = {
  definition: {
    schema_version: 1,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: ['api.acme.example'],
  },
  source: 'custom',
  overridesBundled: false,
  hosts: [{ hostPattern: 'api.acme.example', port: 443 }],
}

describe('a registry that daemons share', () => {
  let store: Store
  let vault: Vault
  let kept: Map<string, { readonly revision: number; readonly value: Buffer }>
  let isAway: boolean
  let passed: Buffer[]
  let listeners: ((message: Buffer) => void)[]

  beforeEach(async (t) => {
    assert.ok('after' in t)
    const folder = temporaryFolder(t)
    store = await openStore({ kind: 'sqlite', path: `${folder}/broker.db`, replayPath: `${folder}/replay.db` })
    t.after(() => store.close())
    vault = await openVault({
      store,
      masterKey: {
        mode: 'env',
        masterKey: new Secret(hash('sha256', 'CNRY a key of tests', 'base64')),
        localKeyPath: '/nowhere',
        createFile: () => undefined,
        keyring: systemKeyring(),
      },
      anchorFile: { read: () => undefined, write: () => undefined },
    })
    kept = new Map()
    isAway = false
    passed = []
    listeners = []
  })

  /** Of a daemon of its own; it reaches the cache, or does not. */
  function registry(reaches = () => !isAway): SessionRegistry {
    const cache: Pick<SharedCache, 'get' | 'put' | 'remove' | 'problem' | 'pass' | 'hear'> = {
      get: async (name) => (reaches() ? kept.get(name) : undefined),
      async put(name, entry) {
        if (reaches() && (kept.get(name)?.revision ?? -1) < entry.revision) kept.set(name, entry)
      },
      async remove(name, revision) {
        if (reaches() && (kept.get(name)?.revision ?? 0) <= revision) kept.delete(name)
      },
      pass(message) {
        passed.push(message)
        for (const listener of listeners) listener(message)
      },
      hear: (listener) => void listeners.push(listener),
      problem: async () => (reaches() ? undefined : 'Redis cannot be used.'),
    }
    return openSharedRegistry({ cache, seals: () => vault.outside(), replay: store.replay, now: Date.now })
  }

  const device: WaitingStep = {
    kind: 'device',
    server: { issuer: 'https://acme.example', sendsIssuer: false, takesMetadataDocument: false },
    client: { client: { id: 'public', auth: 'none' }, origin: 'definition' },
    started: {
      scopes: [],
      deviceCode: new Secret('dc-CNRY'),
      userCode: 'WDJB-MJHT',
      verificationUri: 'https://acme.example/go',
      interval: 5,
      expiresAt: Date.now() + 600_000,
    },
  }

  const begun = (step: WaitingStep = { kind: 'form', asksFor: 'credential', fields: [] }) =>
    newSession(
      {
        actor,
        provider,
        connection: 'default',
        flow: 'api_key',
        section: 'api_key',
        anew: 'nothing',
        existing: 'refuse',
        source: 'login',
      },
      step,
      Date.now(),
    )
  const storing = (session: Session) => taken(session, 'storing', Date.now())

  it('lets one of two move a session, though neither sees what the other keeps', async () => {
    const session = begun()
    const [here, there] = [registry(), registry(() => false)]
    await here.create(session)
    await there.create(session)
    const moved = await Promise.all([here.move(session, storing(session)), there.move(session, storing(session))])
    assert.deepEqual(moved.toSorted(), [false, true])
  })

  it('gives up a session whose step was taken by one that never said where it led', async () => {
    const session = begun()
    const [here, there] = [registry(), registry()]
    await here.create(session)
    const before = new Map(kept)
    assert.equal(await here.move(session, storing(session)), true)
    kept = new Map(before)
    assert.equal(await there.move(session, storing(session)), false)
    assert.equal(await there.find(session.id), undefined)
  })

  it('sees no older session than one that it has seen, where the cache forgets', async () => {
    const session = begun()
    const [here, there] = [registry(), registry()]
    await here.create(session)
    const over = ended(session, { status: 'cancelled' }, Date.now())
    assert.equal(await there.move(session, over), true)
    assert.equal((await here.find(session.id))?.state.status, 'cancelled')
    kept.clear()
    assert.equal((await here.find(session.id))?.state.status, 'cancelled')
    assert.equal((await there.find(session.id))?.state.status, 'cancelled')
    assert.equal(await registry().find(session.id), undefined)
  })

  it('finds nothing in what was sealed as another session, or another state of it', async () => {
    const sessions = [begun(), begun()]
    const here = registry()
    for (const session of sessions) await here.create(session)
    const [one, two] = [...kept.keys()]
    assert.ok(one !== undefined && two !== undefined)
    const value = kept.get(two)
    assert.ok(value)
    kept.set(one, value)
    assert.equal(await registry().find(sessions[0]?.id ?? ''), undefined)
    kept.set(two, { ...value, revision: 7 })
    assert.equal(await registry().find(sessions[1]?.id ?? ''), undefined)
  })

  it('tells the others when a provider is to be asked about a code, and nobody who looks on', async () => {
    const heard: AskedElsewhere[] = []
    registry().hear?.((asked) => void heard.push(asked))
    const here = registry()
    await here.create(begun())
    assert.deepEqual(heard, [])
    const session = begun(device)
    await here.create(session)
    await here.move(session, polledLater(session, 60, Date.now()))
    assert.deepEqual(
      heard.map(({ id, revision, dueInMs }) => [id, revision, Math.ceil(dueInMs / 60_000)]),
      [
        [session.id, 0, 1],
        [session.id, 1, 1],
      ],
    )
    assert.ok(passed.every((message) => !message.includes(session.id)))
    const [message] = passed
    assert.ok(message)
    for (const forged of [message.subarray(1), Buffer.from(JSON.stringify(heard[0])), Buffer.alloc(0)])
      for (const listener of listeners) listener(forged)
    assert.equal(heard.length, 2)
  })

  it('names those that end with the daemon where nobody else finds them', async () => {
    const session = begun()
    const here = registry()
    await here.create(session)
    isAway = true
    assert.deepEqual(
      (await here.close()).map(({ id }) => id),
      [session.id],
    )
    isAway = false
    assert.deepEqual(await registry().close(), [])
  })
})
