import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Answer,
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  send,
  startDaemon,
  temporaryHome,
} from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const ROUNDS = 30
/** No further round begins after this, on a machine that has other things to do. */
const ROUNDS_LIMIT_MS = 20_000
const BATCH = 5
const RANDOM_MOMENT_MS = 200

/** A daemon that is killed and started again in the same home, and a caller that it knows. */
interface Stage {
  readonly ada: Caller
  readonly daemon: DaemonUnderTest
  crash(): Promise<Stage>
}

async function openStage(t: TestContext, home = temporaryHome(t), key?: Caller['key']): Promise<Stage> {
  const daemon = await startDaemon(t, { home })
  const ada = key ? caller(daemon, 'ada', key) : await owner(daemon)
  return {
    ada,
    daemon,
    crash: async () => {
      await daemon.stop('SIGKILL')
      return openStage(t, home, ada.key)
    },
  }
}

function definition(name: string) {
  return {
    schema_version: 1,
    name,
    display_name: name,
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: [`api.${name}.example`],
    api_key: { header_name: 'Authorization', prefix: 'Bearer' },
  }
}

function events(batch: string) {
  return Array.from({ length: BATCH }, (_, index) => ({
    id: `${batch}-${index}`,
    event: 'proxy.request',
    status: 'success',
    reason: batch,
    request: { method: 'GET', host: 'api.acme.example', port: 443, path: '/' },
  }))
}

async function acknowledged(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer
  if (status < 200 || status > 299) throw new Error(`${status} ${text}`)
}

async function assertReady({ ada }: Stage): Promise<void> {
  const { body } = await ada.call('GET', '/api/ready')
  assert.equal(body.status, 'ready', JSON.stringify(body.issues))
  assert.equal(body.checks.integrity, 'ok')
  assert.equal(body.checks.vault, 'ok')
}

async function connectionsOf({ ada }: Stage, provider: string) {
  const { body } = await ada.call('GET', '/api/connections')
  return body.connections.filter((one: { provider: string }) => one.provider === provider)
}

async function keyOf({ ada }: Stage, provider: string, connection: string): Promise<string | undefined> {
  const answer = await ada.call('GET', `/api/connections/${provider}/${connection}?reveal=true`)
  return answer.status === 404 ? undefined : answer.body.credential.api_key
}

/** Newest first, all of them. */
async function allEvents({ ada }: Stage, filter: string) {
  const found = []
  for (let cursor = ''; ; ) {
    const { body } = await ada.call('GET', `/api/audit/events?limit=500&${filter}${cursor}`)
    found.push(...body.events)
    if (body.next_cursor === undefined) return found
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
}

describe('a daemon that is killed', { timeout: 240_000 }, () => {
  it('keeps each kind of write that it acknowledged a moment before', async (t) => {
    const secret = markedSecret('sk-')
    let stage = await openStage(t)
    await connect(stage.ada, 'openai', secret)
    stage = await stage.crash()
    assert.equal(await keyOf(stage, 'openai', 'default'), secret)
    assert.equal((await allEvents(stage, 'event=provider.login')).length, 1)

    await connect(stage.ada, 'openai', secret, { connection: 'work' })
    await acknowledged(stage.ada.call('POST', '/api/connections/openai/work/default'))
    stage = await stage.crash()
    assert.deepEqual(
      (await connectionsOf(stage, 'openai')).map(({ connection, is_default }: Record<string, unknown>) => ({
        connection,
        is_default,
      })),
      [
        { connection: 'default', is_default: false },
        { connection: 'work', is_default: true },
      ],
    )

    await acknowledged(stage.ada.call('POST', '/api/connections/openai/work/logout'))
    stage = await stage.crash()
    assert.equal(await keyOf(stage, 'openai', 'work'), undefined)

    await acknowledged(stage.ada.call('POST', '/api/providers', { definition: definition('acme') }))
    stage = await stage.crash()
    assert.equal((await stage.ada.call('GET', '/api/providers/acme')).body.source, 'custom')

    await acknowledged(stage.ada.call('POST', '/audit/events', { events: events('batch-one') }))
    stage = await stage.crash()
    assert.equal((await allEvents(stage, 'event=proxy.request')).length, BATCH)

    await acknowledged(stage.ada.call('DELETE', '/api/providers/acme'))
    stage = await stage.crash()
    assert.equal((await stage.ada.call('GET', '/api/providers/acme')).status, 404)

    await acknowledged(stage.ada.call('POST', '/api/connections/openai/revoke'))
    stage = await stage.crash()
    assert.deepEqual(await connectionsOf(stage, 'openai'), [])
    await assertReady(stage)
  })

  it(`keeps everything acknowledged, and nothing half, through up to ${ROUNDS} kills at random moments`, async (t) => {
    const truth = new Truth()
    let stage = await openStage(t)
    await acknowledged(stage.ada.call('POST', '/api/providers', { definition: definition('acme') }))
    const deadline = performance.now() + ROUNDS_LIMIT_MS
    let round = 0
    for (; round < ROUNDS && performance.now() < deadline; round += 1) {
      const writers = [truth.connect(stage, round), truth.register(stage, round), truth.ship(stage, round)]
      await delay(randomInt(RANDOM_MOMENT_MS))
      const [next] = await Promise.all([stage.crash(), ...writers])
      stage = next
      await assertReady(stage)
      await truth.assertHeld(stage)
    }
    const { connections, batches } = truth.counts()
    t.diagnostic(`${round} kills, ${connections} connections and ${batches} audit batches acknowledged`)
    assert.ok(connections > 0 && batches > 0, 'the writers had something to do')
  })
})

/** What must be there, and what may be: of each writer the one write that was under way when the daemon was killed. */
class Truth {
  readonly #keys = new Map<string, string>()
  readonly #removed = new Set<string>()
  readonly #uncertain = new Map<string, string>()
  readonly #batches = new Set<string>()
  readonly #registered = new Set<string>()
  #default: string | undefined
  #defaultIsCertain = true

  counts() {
    return { connections: this.#keys.size + this.#removed.size, batches: this.#batches.size }
  }

  /** Logs in, takes every third as the default and every fourth away, until the daemon is gone. */
  async connect({ ada }: Stage, round: number): Promise<void> {
    await untilKilled(async (count) => {
      const name = `c-${round}-${count}`
      const key = markedSecret()
      this.#uncertain.set(name, key)
      await connect(ada, 'acme', key, { connection: name })
      this.#keys.set(name, key)
      if (this.#default === undefined && this.#keys.size === 1) this.#default = name
      if (count % 3 === 2) {
        this.#defaultIsCertain = false
        await acknowledged(ada.call('POST', `/api/connections/acme/${name}/default`))
        this.#default = name
        this.#defaultIsCertain = true
      }
      this.#uncertain.delete(name)
      if (count % 4 === 1) {
        this.#keys.delete(name)
        this.#uncertain.set(name, key)
        await acknowledged(ada.call('POST', `/api/connections/acme/${name}/logout`))
        this.#uncertain.delete(name)
        this.#removed.add(name)
      }
    })
  }

  async register({ ada }: Stage, round: number): Promise<void> {
    await untilKilled(async (count) => {
      const name = `p-${round}-${count}`
      await acknowledged(ada.call('POST', '/api/providers', { definition: definition(name) }))
      this.#registered.add(name)
      await delay(20)
    })
  }

  async ship({ ada }: Stage, round: number): Promise<void> {
    await untilKilled(async (count) => {
      const batch = `batch-${round}-${count}`
      await acknowledged(ada.call('POST', '/audit/events', { events: events(batch) }))
      this.#batches.add(batch)
    })
  }

  async assertHeld(stage: Stage): Promise<void> {
    await this.#assertConnections(stage)
    const { body } = await stage.ada.call('GET', '/api/providers')
    const names = new Set(body.custom.map(({ name }: { name: string }) => name))
    assert.deepEqual(
      [...this.#registered].filter((name) => !names.has(name)),
      [],
    )
    await this.#assertEvents(stage)
  }

  async #assertConnections(stage: Stage): Promise<void> {
    const listed = await connectionsOf(stage, 'acme')
    const names = new Set<string>(listed.map(({ connection }: { connection: string }) => connection))
    assert.deepEqual(
      [...this.#keys.keys()].filter((name) => !names.has(name)),
      [],
      'acknowledged logins',
    )
    assert.deepEqual(
      [...this.#removed].filter((name) => names.has(name)),
      [],
      'acknowledged logouts',
    )
    for (const [name, key] of this.#uncertain) {
      assert.equal(await keyOf(stage, 'acme', name), names.has(name) ? key : undefined, 'whole or not at all')
      if (names.has(name)) this.#keys.set(name, key)
    }
    this.#uncertain.clear()
    const newest = [...this.#keys].slice(-3)
    for (const [name, key] of newest) assert.equal(await keyOf(stage, 'acme', name), key)
    const unknown = [...names].filter((name) => !this.#keys.has(name))
    assert.deepEqual(unknown, [], 'nothing that nobody asked for')
    this.#assertDefault(listed)
  }

  #assertDefault(listed: readonly { connection: string; is_default: boolean }[]): void {
    const defaults = listed.filter(({ is_default }) => is_default).map(({ connection }) => connection)
    assert.ok(defaults.length <= 1, 'one default at most')
    if (this.#defaultIsCertain && this.#default && this.#keys.has(this.#default)) {
      assert.deepEqual(defaults, [this.#default])
    }
    this.#default = defaults[0]
    this.#defaultIsCertain = true
  }

  async #assertEvents(stage: Stage): Promise<void> {
    const stored = Map.groupBy(await allEvents(stage, 'event=proxy.request'), ({ reason }) => reason as string)
    assert.deepEqual(
      [...this.#batches].filter((batch) => !stored.has(batch)),
      [],
      'acknowledged batches',
    )
    for (const [batch, rows] of stored) assert.equal(rows.length, BATCH, `${batch} is whole and there once`)
    const logins = await allEvents(stage, 'event=provider.login')
    const told = new Set(logins.map(({ connection }) => connection))
    assert.deepEqual(
      [...this.#keys.keys()].filter((name) => !told.has(name)),
      [],
      'each login has its event',
    )
    const seqs = logins.map(({ seq }) => seq)
    assert.equal(new Set(seqs).size, seqs.length)
  }
}

/** Writes one after the other; the failure that the kill brings ends it. */
async function untilKilled(write: (count: number) => Promise<void>): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      await write(count)
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error
      if (!isGone) throw error
      return
    }
  }
}

describe('a disk that takes no more', { timeout: 240_000 }, () => {
  const hasLimits = spawnSync('prlimit', ['--version']).status === 0

  const skip = !hasLimits && 'there is no prlimit here to stop files from growing'

  it('is told as 503 while the daemon lives on, and is forgotten once there is room', { skip }, async (t) => {
    const stage = await openStage(t)
    const key = markedSecret('sk-')
    await connect(stage.ada, 'openai', key)

    limitFiles(stage.daemon, 1)
    const refused = await stage.ada.call('GET', '/api/connections')
    const health = await send(stage.daemon, 'GET', '/api/health')
    limitFiles(stage.daemon, 'unlimited')

    assert.equal(health.status, 200)
    assertUnavailable(refused)
    assert.equal(await keyOf(stage, 'openai', 'default'), key)
    await assertReady(stage)
  })

  it('refuses what cannot be stored whole, and keeps what was', { skip }, async (t) => {
    const stage = await openStage(t)
    const stored = join(stage.daemon.home, 'server', 'broker.db-wal')
    limitFiles(stage.daemon, statSync(stored).size + 200_000)

    const { acknowledged, refused } = await connectUntilRefused(stage)
    assertUnavailable(refused)
    limitFiles(stage.daemon, 'unlimited')

    await assertHolds(stage, acknowledged)
    await assertHolds(await stage.crash(), acknowledged)
  })

  it('whose folder may not be written: writes are refused, nothing is lost', {
    skip: process.getuid?.() === 0 && 'root may write where the mode says nobody may',
  }, async (t) => {
    const stage = await openStage(t)
    const key = markedSecret('sk-')
    await connect(stage.ada, 'openai', key)
    const folder = join(stage.daemon.home, 'server')
    await stage.daemon.stop('SIGKILL')
    const modes = readdirSync(folder).map((name) => [join(folder, name), statSync(join(folder, name)).mode] as const)
    for (const [path] of modes) chmodSync(path, 0o400)
    chmodSync(folder, 0o500)
    await assert.rejects(startDaemon(t, { home: stage.daemon.home }), /ended before it listened/)
    chmodSync(folder, 0o700)
    for (const [path, mode] of modes) chmodSync(path, mode)

    const again = await stage.crash()

    assert.equal(await keyOf(again, 'openai', 'default'), key)
  })
})

/** Stores connections under ever new names until one is not taken. */
async function connectUntilRefused({ ada }: Stage) {
  const acknowledged = new Map<string, string>()
  for (let count = 0; ; count += 1) {
    const [name, key] = [`c-${count}`, markedSecret('sk-')]
    const session = await ada.call('POST', '/api/auth/sessions', { provider: 'openai', connection: name })
    if (session.status !== 201) return { acknowledged, refused: session }
    const path = `/api/auth/sessions/${session.body.id}/resume`
    const answer = await ada.call('POST', path, { input: { api_key: key } })
    if (answer.status !== 200) return { acknowledged, refused: answer }
    acknowledged.set(name, key)
  }
}

async function assertHolds(stage: Stage, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  const names = (await connectionsOf(stage, 'openai')).map(({ connection }: { connection: string }) => connection)
  assert.deepEqual(names.toSorted(), [...acknowledged.keys()].toSorted())
  for (const [name, key] of acknowledged) assert.equal(await keyOf(stage, 'openai', name), key)
  await assertReady(stage)
}

function assertUnavailable({ status, body, text }: Answer): void {
  assert.equal(status, 503, text)
  assert.equal(body.error, 'DaemonUnavailableError')
  assert.ok(body.hint)
  assert.doesNotMatch(text, /sqlite|broker-test|CNRY/i)
}

/** Bytes that no file of the daemon may grow beyond from now on. */
function limitFiles(daemon: DaemonUnderTest, bytes: number | 'unlimited'): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(daemon.process.pid), `--fsize=${bytes}:unlimited`])
  assert.equal(status, 0, String(stderr))
}
