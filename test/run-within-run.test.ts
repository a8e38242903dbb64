import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { LocalApi } from '../demo/local-api.ts'
import { acmeHome } from './acme-home.ts'
import { BROKER, type BrokerHome, type Ended, logIn } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const ACME = 'api.acme-nested.example'
const OTHER = 'api.other-nested.example'
const STRANGER = 'www.stranger-nested.example'
const KEY = markedSecret('ak-')

/** Asks, and tells what it was answered and what it was started with. */
const CHILD = `
  const { env } = process
  const told = (value) => console.log(JSON.stringify(value))
  fetch(process.argv[1], { headers: { authorization: 'Bearer ' + env.ACME_API_KEY } })
    .then((answer) => told({ status: answer.status, env }), (error) => told({ failure: String(error.cause ?? error), env }))`

describe('a run within a run', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  before(async () => {
    ;({ api, world } = await acmeHome(cleanup, {
      providers: { acme: ACME, other: OTHER },
      strangers: [STRANGER],
      key: KEY,
    }))
  })

  function inner(
    url: string,
    outerArgs: readonly string[] = [],
    innerArgs: readonly string[] = [],
    env = {},
  ): Promise<Ended> {
    const command = [BROKER, 'run', ...innerArgs, '--', process.execPath, '-e', CHILD, url]
    return world.broker(['run', ...outerArgs, '--', ...command], { env })
  }

  it('reaches the API with the key by itself, of a home that is not the default one', async () => {
    const { code, stdout, stderr } = await inner(`https://${ACME}/v1/items`)

    assert.equal(code, 0, stderr)
    const { status, env } = JSON.parse(stdout)
    assert.equal(status, 200)
    assert.deepEqual(
      Object.keys(env).filter((name) => name.startsWith('BROKER_')),
      ['BROKER_RUN_SOCKET'],
    )
    assert.doesNotMatch(JSON.stringify(env), /CNRY/)
    const events = JSON.parse((await world.broker(['log', '--json', '-n', '6'])).stdout)
    assert.deepEqual(
      events.map(({ event }: { event: string }) => event),
      ['run.ended', 'run.ended', 'proxy.request', 'credential.released', 'run.started', 'run.started'],
    )
    const [outerEnd, innerEnd, request] = events
    assert.equal(request.run_id, innerEnd.run_id)
    assert.notEqual(outerEnd.run_id, innerEnd.run_id)
  })

  it('gives its child what the outer child was given, once', async () => {
    const show = `
      const { env } = process
      const pem = fs.readFileSync(env.SSL_CERT_FILE, 'utf8').match(/BEGIN CERT/g).length
      console.log(JSON.stringify({ options: env.NODE_OPTIONS, java: env.JAVA_TOOL_OPTIONS?.match(/proxyHost/g).length, php: env.PHP_INI_SCAN_DIR, pem }))`
    const one = JSON.parse((await world.broker(['run', '--', process.execPath, '-e', show])).stdout)
    const nested = ['run', '--', BROKER, 'run', '--', BROKER, 'run', '--', process.execPath, '-e', show]
    const three = JSON.parse((await world.broker(nested)).stdout)

    assert.equal(three.pem, one.pem)
    assert.equal(three.java, one.java)
    assert.equal(three.options, one.options)
    assert.equal(three.php.split(':').length, one.php.split(':').length)
  })

  it('may do no more than the outer run', async () => {
    const bare = await inner(`https://${ACME}/v1/items`, ['--only', 'other'])
    const { failure, env } = JSON.parse(bare.stdout)
    assert.match(failure, /certificate/, 'the host is not intercepted and shows its own')
    assert.equal(env.ACME_API_KEY, undefined)
    assert.equal(env.OTHER_API_KEY, 'broker-proxy-managed')

    const more = await inner(`https://${ACME}/v1/items`, ['--only', 'other'], ['--only', 'acme'])
    assert.equal(more.code, 4)
    assert.match(more.stderr, /not started with --only acme/)
    assert.match(more.stderr, /no more than that one/)

    await logIn(world, 'acme', KEY, ['--connection', 'second'])
    const second = await inner(`https://${ACME}/v1/items`, [], ['--connection', 'acme=second'])
    assert.equal(second.code, 4)
    const both = ['--connection', 'acme=second']
    assert.equal(JSON.parse((await inner(`https://${ACME}/v1/items`, both, both)).stdout).status, 200)
  })

  it('may do no more either where an agent gave it hardly any environment', {
    skip: process.platform !== 'linux' && 'only Linux tells who descends from whom',
  }, async () => {
    // As agents start their MCP servers.
    const { PATH, HOME } = world.env
    const entry = [BROKER, 'run', '--', process.execPath, '-e', CHILD, `https://${ACME}/v1/items`]
    const agent = `require('node:child_process').spawnSync(process.argv[1], process.argv.slice(2), {
      env: ${JSON.stringify({ PATH, HOME })}, stdio: 'inherit' })`
    const command = [process.execPath, '-e', agent, ...entry]

    const whole = await world.broker(['run', '--', ...command])
    const narrow = await world.broker(['run', '--only', 'other', '--', ...command])

    assert.equal(JSON.parse(whole.stdout).status, 200, whole.stderr)
    assert.match(JSON.parse(narrow.stdout).failure, /certificate/)
  })

  it('may do no more either where its environment names the proxy of a run that is gone', {
    skip: process.platform !== 'linux' && 'only Linux tells who descends from whom',
  }, async () => {
    const gone = `HTTPS_PROXY=http://broker:${'a'.repeat(32)}@127.0.0.1:1`
    const show = [BROKER, 'run', '--', process.execPath, '-e', 'console.log(process.env.ACME_API_KEY)']
    const asAgent = ['sh', '-c', 'env "$@"; exit $?', 'sh', gone, `BROKER_HOME=${world.home}`, ...show]

    const { stdout, stderr } = await world.broker(['run', '--only', 'other', '--', ...asAgent])

    assert.equal(stdout, 'undefined\n', stderr)
  })

  it('is started by the key of the outer run, and no name of another one makes it wider', async () => {
    const wide = await world.startAsking()
    const [{ run_id, identity: agent }] = await auditLog('-n', '1', '--event', 'run.started')
    const liar = await startLyingProxy({
      run_id,
      agent,
      settings: { BROKER_HOME: world.home, BROKER_PORT: String(world.daemon.port) },
      changes: {},
    })
    const show = [BROKER, 'run', '--', process.execPath, '-e', 'console.log(process.env.ACME_API_KEY)']

    // Under the shield it has no key that it could sign such a start with.
    const lying = ['run', '--no-shield', '--only', 'other', '--', 'env', `HTTPS_PROXY=${liar}`, ...show]
    const lied = await world.broker(lying)
    const named = await world.broker(show.slice(1), { env: { BROKER_OUTER_RUN: run_id } })
    await wide.end()

    assert.deepEqual([lied.code, lied.stdout], [4, ''])
    assert.match(lied.stderr, /The run around this one has ended/)
    assert.deepEqual([named.code, named.stdout], [2, ''])
  })

  it('is of the agent that the outer run is of, whichever is in use by then', async () => {
    const switching = `"$0" agent create second >/dev/null && "$0" agent use second >/dev/null && "$0" run -- "$@"`
    const command = ['sh', '-c', switching, BROKER, process.execPath, '-e', CHILD, `https://${ACME}/v1/items`]

    // Under the shield there are no agents to choose from.
    const { stdout, stderr } = await world.broker(['run', '--no-shield', '--', ...command])
    const [inner, outer] = await auditLog('-n', '2', '--event', 'run.started')

    assert.equal(JSON.parse(stdout).status, 200, stderr)
    assert.equal(inner.identity, outer.identity)
    assert.equal((await world.broker(['agent', 'use', outer.identity])).code, 0)
  })

  it('may do less, and the placeholders of the rest are gone', async () => {
    const { stdout } = await inner(`https://${OTHER}/v1/items`, [], ['--only', 'other'])

    const { env, status } = JSON.parse(stdout)
    assert.equal(status, 200)
    assert.equal(env.ACME_API_KEY, undefined)
  })

  it('goes nowhere that a strict outer run does not', async () => {
    const connect = `
      const proxy = new URL(process.env.HTTPS_PROXY)
      const authorization = 'Basic ' + Buffer.from(proxy.username + ':' + proxy.password).toString('base64')
      const path = '${STRANGER}:443'
      const asked = http.request({ port: proxy.port, method: 'CONNECT', path, headers: { host: path, 'proxy-authorization': authorization } })
      asked.on('connect', (answer, socket) => { console.log(answer.statusCode); socket.destroy() }).end()`
    const asking = ['run', '--strict', '--', BROKER, 'run', '--', process.execPath, '-e', connect]
    assert.equal((await world.broker(asking)).stdout, '403\n')

    const { stdout } = await inner(`https://${STRANGER}/`, ['--strict'])

    assert.notEqual(JSON.parse(stdout).failure, undefined)
    assert.equal(api.received.filter(({ headers }) => headers.host === STRANGER).length, 0)
  })

  it('goes out through the proxy of the company, whose password it is not told', async () => {
    const password = markedSecret('corporate-')
    const company = await startCompanyProxy(password)
    const url = `http://ada:${password}@127.0.0.1:${company.port}`

    const { stdout, stderr } = await inner(`https://${ACME}/v1/items`, [], [], { HTTPS_PROXY: url, https_proxy: url })

    const { status, env, failure } = JSON.parse(stdout)
    assert.equal(status, 200, `${failure} ${stderr}`)
    assert.doesNotMatch(JSON.stringify(env), /corporate-/)
    assert.equal(company.tunnels.length, 1)
  })

  it('leaves a daemon that it started to itself', async () => {
    const { code, stderr } = await world.broker(['run', '--no-shield', '--', BROKER, 'daemon', 'restart'])

    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stderr, /the proxy stays/)
    const { pid } = JSON.parse(readFileSync(join(world.home, 'server', 'daemon.json'), 'utf8'))
    cleanup.after(() => process.kill(pid))
    assert.doesNotMatch(readFileSync(`/proc/${pid}/environ`, 'latin1'), /_PROXY=http/i)
  })

  // biome-ignore lint/suspicious/noExplicitAny: what `log --json` prints.
  async function auditLog(...args: readonly string[]): Promise<any[]> {
    return JSON.parse((await world.broker(['log', '--json', ...args])).stdout)
  }

  /** Answers as if it were the proxy of that run; its address. */
  async function startLyingProxy(description: object): Promise<string> {
    const server = createServer((_, answer) => answer.end(JSON.stringify(description)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanup.after(() => server.close())
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return `http://broker:${'a'.repeat(32)}@127.0.0.1:${port}`
  }

  async function startCompanyProxy(password: string) {
    const tunnels: string[] = []
    const authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`
    const server = createServer()
    server.on('connect', (request, socket) => {
      if (request.headers['proxy-authorization'] !== authorization) return socket.end('HTTP/1.1 407 No\r\n\r\n')
      tunnels.push(request.url ?? '')
      const [host = '', port = ''] = (request.url ?? '').split(':')
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        socket.pipe(upstream).pipe(socket)
      })
      for (const one of [socket, upstream]) one.on('error', () => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanup.after(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = server.address()
    return { port: typeof address === 'object' && address !== null ? address.port : 0, tunnels }
  }
})
