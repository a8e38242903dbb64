import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { before, describe, it } from 'node:test'
import type { LocalApi } from '../demo/local-api.ts'
import type { AuditEvent } from '../src/schemas/index.ts'
import { acmeHome } from './acme-home.ts'
import type { BrokerHome } from './broker-command.ts'
import { owner, suiteCleanup } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const HOST = 'api.acme-releases.example'
const KEY = markedSecret('ak-')
const STORED = `Bearer ${KEY}`

/** Asks for sixty credentials at once, and meanwhile for a hundred times what no run is let to. */
const FLOOD = `process.stdin.once('data', () => {
  console.log('up')
  process.stdin.once('data', async () => {
    const all = Array.from({ length: 60 }, (_, at) => fetch('https://${HOST}/v1/items/' + at).then((a) => a.status))
    for (let at = 0; at < 100; at++) await fetch('http://169.254.169.254/').catch(() => undefined)
    console.log('asked')
    console.log(JSON.stringify(await Promise.all(all)))
    process.stdin.destroy()
  })
})`

/** Whatever leaves the daemon is in the log before it has left: by every door, and whoever is killed. */
describe('releases', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  before(async () => {
    const made = await acmeHome(cleanup, { providers: { acme: HOST }, key: KEY })
    api = made.api
    world = made.world
  })

  async function events(name: string, of = world): Promise<AuditEvent[]> {
    const { stdout } = await of.broker(['log', '--json', '--event', name, '-n', '500'])
    return JSON.parse(stdout)
  }

  async function released(of = world): Promise<number> {
    return (await events('credential.released', of)).reduce((sum, { count = 0 }) => sum + count, 0)
  }

  function authenticated(): number {
    return api.received.filter(({ headers }) => headers['authorization'] === STORED).length
  }

  it('of a run: through its channel, with the request that it was for, and the request says which', async () => {
    const run = await world.startAsking()
    assert.equal((await run.get(`https://${HOST}/v1/items?api_key=ak-CNRYmisplaced`)).status, 200)
    const [release] = await events('credential.released')
    await run.end()
    const [request] = await events('proxy.request')
    assert.deepEqual(
      { ...release, id: '', seq: 0, timestamp: '', identity: '', principal_id: '', run_id: '', release: 0 },
      {
        id: '',
        seq: 0,
        timestamp: '',
        event: 'credential.released',
        source: 'internal',
        provider: 'acme',
        connection: 'default',
        identity: '',
        principal_id: '',
        status: 'success',
        run_id: '',
        request: { method: 'GET', host: HOST, port: 443, path: '/v1/items' },
        release: 0,
        count: 1,
        how: 'channel',
      },
    )
    assert.equal(release?.release, request?.release)
    assert.equal(release?.run_id, request?.run_id)
  })

  it('of an agent that asks by itself, and of what it has shown to it', async () => {
    const agent = await owner(world.daemon)
    const question = { host: HOST, method: 'POST', path: '/v1/chat?q=1' }
    const resolved = await agent.call('POST', '/api/credentials/resolve', question)
    assert.equal(resolved.body.headers.Authorization, STORED)
    const [asked] = await events('credential.released')
    assert.deepEqual(
      [asked?.how, asked?.identity, asked?.count, asked?.run_id, asked?.request],
      ['resolve', 'ada', 1, undefined, { method: 'POST', host: HOST, port: 443, path: '/v1/chat' }],
    )

    const shown = await agent.call('GET', '/api/connections/acme/default?reveal=true')
    assert.equal(shown.body.credential.api_key, KEY)
    const [reveal] = await events('credential.released')
    assert.deepEqual([reveal?.how, reveal?.request], ['reveal', undefined])
    assert.equal(reveal?.release, (asked?.release ?? 0) + 1)
    assert.equal((await events('connection.revealed')).length, 1)
  })

  it('are refused to agents, and not to runs and people, where the owner says so', async () => {
    const made = await acmeHome(cleanup, { providers: { acme: HOST }, key: KEY, env: { BROKER_RELEASE_TO: 'runs' } })
    const agent = await owner(made.world.daemon)
    for (const [method, path, body] of [
      ['POST', '/api/credentials/resolve', { host: HOST }],
      ['GET', '/api/connections/acme/default?reveal=true', undefined],
    ] as const) {
      const refused = await agent.call(method, path, body)
      assert.deepEqual([refused.status, refused.body.error], [403, 'OperationNotAllowedError'])
      assert.doesNotMatch(refused.text, new RegExp(KEY))
    }
    assert.equal(await released(made.world), 0)
    const run = await made.world.startAsking()
    assert.equal((await run.get(`https://${HOST}/v1/items`)).status, 200)
    await run.end()
    assert.equal(await released(made.world), 1)
  })

  it('are never fewer than the requests that carried one, where the run is killed after each of five', async () => {
    const [sent, told] = [authenticated(), await released()]
    for (let time = 0; time < 5; time += 1) {
      const run = await world.startAsking()
      assert.equal((await run.get(`https://${HOST}/v1/items/${time}`)).status, 200)
      for (const pid of [...proxies(world), run.process.pid ?? 0]) process.kill(pid, 'SIGKILL')
      await once(run.process, 'exit')
    }
    assert.equal(authenticated() - sent, 5)
    assert.equal((await released()) - told, 5)
  })

  it('survive a kill of the daemon right after its answer', async () => {
    const made = await acmeHome(cleanup, { providers: { acme: HOST }, key: KEY })
    const run = await made.world.startAsking()
    for (let time = 0; time < 20; time += 1) assert.equal((await run.get(`https://${HOST}/v1/items`)).status, 200)
    made.world.daemon.process.kill('SIGKILL')
    await once(made.world.daemon.process, 'exit')
    await made.world.restart(cleanup)
    assert.equal(await released(made.world), 20)
    // The run meets the daemon that came back.
    assert.equal((await run.get(`https://${HOST}/v1/items`)).status, 200)
    await run.end()
    assert.equal(await released(made.world), 21)
  })

  it('are waited for while the daemon is stopped and a flood goes on, and then are as many as the requests', async () => {
    const [sent, told] = [authenticated(), await released()]
    const { process: run, ended } = world.start(['run', '--', process.execPath, '-e', FLOOD])
    run.stdin?.write('begin\n')
    const daemon = world.daemon.process
    const lines = createInterface({ input: run.stdout ?? Readable.from([]) })[Symbol.asyncIterator]()
    assert.equal((await lines.next()).value, 'up')
    daemon.kill('SIGSTOP')
    try {
      run.stdin?.write('ask\n')
      assert.equal((await lines.next()).value, 'asked')
      assert.equal(authenticated() - sent, 0)
    } finally {
      daemon.kill('SIGCONT')
    }
    assert.deepEqual(JSON.parse((await lines.next()).value ?? '[]'), Array(60).fill(200))
    assert.equal((await ended).code, 0)
    assert.equal(authenticated() - sent, 60)
    assert.equal((await released()) - told, 60)
    assert.equal((await events('audit.gap')).length, 0)
    assert.ok((await events('proxy.denied')).length >= 100)
  })

  it('are no matter to a command that has ended, nor is a daemon that answers nobody then', {
    timeout: 60_000,
  }, async () => {
    const { pid } = world.daemon.process
    try {
      const done = await world.broker(['run', '--', 'sh', '-c', `kill -STOP ${pid}; exit 3`])
      assert.equal(done.code, 3)
      assert.match(done.stderr, /could not be told that the run ended/)
    } finally {
      world.daemon.process.kill('SIGCONT')
    }
  })

  it('of requests that wait together are one, which says how many', async () => {
    const [sent, told] = [authenticated(), await released()]
    const script = `Promise.all(Array.from({ length: 40 }, () => fetch('https://${HOST}/v1/items').then((a) => a.text())))`
    assert.equal((await world.broker(['run', '--', process.execPath, '-e', script])).code, 0)
    assert.equal(authenticated() - sent, 40)
    assert.equal((await released()) - told, 40)
  })

  /** Processes of proxies of this home. */
  function proxies({ home }: BrokerHome): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          const isProxy = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('run-proxy')
          return isProxy && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`BROKER_HOME=${home}\0`)
        } catch {
          return false
        }
      })
      .map(Number)
  }
})
