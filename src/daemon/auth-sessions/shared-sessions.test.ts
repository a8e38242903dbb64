import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { setImmediate as settled } from 'node:timers/promises'
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../../test/scripted-oauth-server.ts'
import { secretInput } from '../../protocol/index.ts'
import type { AuthSession } from '../../schemas/index.ts'
import { type OpenedRooms, openRooms, temporaryFolder, tokenProvider } from '../connections/rooms.fixture.ts'
import { openFlows } from '../flows/index.ts'
import { ManualClock, stateOf } from './auth-sessions.fixture.ts'
import type { AuthSessions } from './auth-sessions.ts'
import { openAuthSessions } from './open-auth-sessions.ts'
import { pollingOf, type Session } from './session.ts'
import { type AskedElsewhere, openMemoryRegistry, type SessionRegistry } from './session-registry.ts'

const MINUTE = 60_000
const GRANTED: ScriptedAnswer = {
  body: { access_token: 'at-CNRY', token_type: 'bearer', refresh_token: 'rt-CNRY', expires_in: 60 },
}
const PENDING: ScriptedAnswer = { status: 400, body: { error: 'authorization_pending' } }

describe('login sessions that two daemons find', () => {
  let rooms: OpenedRooms
  let clock: ManualClock
  let server: ScriptedServer
  let token: ScriptedAnswer
  let here: AuthSessions
  let there: AuthSessions
  let elsewhere: AuthSessions

  beforeEach(async (t) => {
    assert.ok('after' in t)
    token = GRANTED
    server = await startScriptedServer(({ path }, origin) => {
      if (path === '/token') return token
      const code = { device_code: 'dc-CNRY', user_code: 'WDJB-MJHT', verification_uri: `${origin}/go`, interval: 5 }
      return path === '/device' ? { body: code } : undefined
    })
    t.after(() => server.close())
    clock = new ManualClock()
    rooms = await openRooms({ folder: temporaryFolder(t), now: clock.now })
    const acme = tokenProvider(server.origin)
    const oauth = { ...acme.oauth, device_authorization_url: `${server.origin}/device` }
    void rooms.providers.register(rooms.providers.validate({ ...acme, oauth }), { force: true })
    const registry = sharedRegistry()
    const open = () => {
      const flows = openFlows({ hosted: false, version: '0', now: clock.now })
      return openAuthSessions({ ...rooms, flows, baseUrl: 'http://127.0.0.1:7998', clock, registry })
    }
    here = open()
    there = open()
    elsewhere = open()
    t.after(() => Promise.all([here.close(), there.close(), elsewhere.close()]))
    t.after(() => rooms.store.close())
  })

  /** It outlives either daemon. */
  function sharedRegistry(): SessionRegistry {
    const registry = openMemoryRegistry(clock.now)
    const listeners: ((asked: AskedElsewhere) => void)[] = []
    const tell = (session: Session) => {
      const polling = pollingOf(session)
      if (polling === undefined) return
      const { id, revision } = session
      for (const listener of listeners) listener({ id, revision, dueInMs: polling.nextAt - clock.now() })
    }
    return {
      async create(session) {
        const gone = await registry.create(session)
        tell(session)
        return gone
      },
      find: (id) => registry.find(id),
      findByState: (state) => registry.findByState(state),
      async move(seen, next) {
        const isOurs = await registry.move(seen, next)
        if (isOurs) tell(next)
        return isOurs
      },
      hear: (listener) => void listeners.push(listener),
      close: async () => [],
    }
  }

  const begin = (more: object = {}) => here.begin(rooms.actor, { provider: 'acme', ...more })
  const back = (session: AuthSession) => new URLSearchParams(`state=${stateOf(session)}&code=CNRY`)
  const statusAt = async (sessions: AuthSessions, { id }: AuthSession) => (await sessions.get(rooms.actor, id)).status
  const resumeAt = (sessions: AuthSessions, { id }: AuthSession) => sessions.resume(rooms.actor, id, secretInput({}))
  const asked = () => server.requestsTo('/token').length

  async function reasons(): Promise<readonly string[]> {
    // What is written in the background comes first.
    await rooms.store.transaction(async () => undefined)
    const { events } = await rooms.audit.page({ kind: 'all' }, {})
    return events.flatMap(({ event, reason }) => (event === 'provider.login_failed' ? [reason ?? ''] : [])).reverse()
  }

  /** Of a provider that keeps its answer back. */
  function held() {
    const arrived = Promise.withResolvers<void>()
    const answer: ScriptedAnswer = { raw: () => arrived.resolve() }
    return { answer, arrived: arrived.promise }
  }

  it('take a browser that comes back to another than the one that sent it away', async () => {
    const session = await begin()
    assert.deepEqual(await there.comeBack(back(session)), {
      provider: 'acme',
      displayName: 'Acme',
      connection: 'default',
    })
    assert.equal(await statusAt(here, session), 'completed')
    assert.equal((await rooms.connections.list(rooms.actor)).length, 1)
  })

  it('spend a code once, where the browser comes back twice at one moment, to one daemon or to both', async () => {
    for (const [connection, second] of [
      ['one', here],
      ['two', there],
    ] as const) {
      const before = asked()
      const session = await begin({ connection })
      const titles = await Promise.all([here.comeBack(back(session)), second.comeBack(back(session))])
      assert.equal(titles.filter((title) => title !== undefined).length, 1)
      assert.equal(asked(), before + 1)
      assert.equal(await statusAt(there, session), 'completed')
    }
  })

  it('ask about a code once an interval, whoever asks', async () => {
    token = PENDING
    const session = await begin({ flow: 'device_code' })
    await Promise.all([resumeAt(here, session), resumeAt(there, session), resumeAt(there, session)])
    assert.equal(asked(), 1)
    clock.sleep(5_000)
    await resumeAt(there, session)
    assert.equal(asked(), 2)
    await resumeAt(here, session)
    assert.equal(asked(), 2)
  })

  it('go on where the daemon that began them has ended', async () => {
    token = PENDING
    const session = await begin({ flow: 'device_code' })
    await here.close()
    await resumeAt(there, session)
    token = GRANTED
    await clock.pass(5_000)
    assert.equal((await resumeAt(there, session)).status, 'completed')
    assert.equal(asked(), 2)
  })

  it('are asked about by one of the others within a minute, where the daemon that did it is gone', async () => {
    token = PENDING
    const idle = await begin({ flow: 'device_code', connection: 'idle' })
    await resumeAt(here, idle)
    const never = held()
    token = never.answer
    const asking = await begin({ flow: 'device_code', connection: 'asking' })
    void resumeAt(here, asking).catch(() => undefined)
    await never.arrived
    const before = asked()
    // As good as killed: nothing wakes it up, and its answer never comes.
    const gone = here.close()
    token = GRANTED
    await clock.pass(60_000)
    for (const session of [idle, asking]) while ((await statusAt(there, session)) !== 'completed') await settled()
    assert.equal(asked(), before + 2)
    assert.equal((await rooms.connections.list(rooms.actor)).length, 2)
    await server.close()
    await gone
  })

  it('are left to the daemon that asks about them', async () => {
    token = PENDING
    const session = await begin({ flow: 'device_code' })
    for (let count = 1; count <= 6; count += 1) {
      await clock.pass(5_000)
      await resumeAt(here, session)
      assert.equal(asked(), count)
    }
  })

  it('do not stay as they were where a daemon was killed at its work', async () => {
    const never = held()
    token = never.answer
    const session = await begin()
    const lost = here.comeBack(back(session)).catch(() => undefined)
    await never.arrived
    // As good as killed: its answer never comes, and nothing wakes it up.
    clock.sleep(4 * MINUTE)
    assert.equal(await statusAt(there, session), 'processing')
    assert.equal(await there.comeBack(back(session)), undefined)
    clock.sleep(2 * MINUTE)
    const over = await there.get(rooms.actor, session.id)
    assert.deepEqual([over.status, over.error?.error], ['failed', 'DaemonUnavailableError'])
    assert.deepEqual(await reasons(), ['interrupted'])
    await server.close()
    await lost
    assert.equal(await statusAt(here, session), 'failed')
    assert.deepEqual(await reasons(), ['interrupted'])
  })

  it('are asked about again where a daemon was killed while it asked about a code', async () => {
    const never = held()
    token = never.answer
    const session = await begin({ flow: 'device_code' })
    const lost = resumeAt(here, session).catch(() => undefined)
    await never.arrived
    token = GRANTED
    clock.sleep(30_000)
    assert.equal((await resumeAt(there, session)).status, 'waiting_for_user')
    clock.sleep(30_000)
    assert.equal((await resumeAt(there, session)).status, 'completed')
    await server.close()
    await lost
    assert.equal((await rooms.connections.list(rooms.actor)).length, 1)
  })

  it('are given back what was granted to one that was cancelled at another daemon', async () => {
    const late = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    token = {
      raw: async (response) => {
        arrived.resolve()
        await late.promise
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(GRANTED.body))
      },
    }
    const session = await begin()
    const returned = here.comeBack(back(session))
    await arrived.promise
    assert.equal((await there.cancel(rooms.actor, session.id)).status, 'cancelled')
    late.resolve()
    await assert.rejects(returned, /was cancelled/)
    assert.equal(server.requestsTo('/revoke').length, 2)
    assert.deepEqual(await rooms.connections.list(rooms.actor), [])
  })
})
