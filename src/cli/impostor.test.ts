import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'

// A program that took the daemon's port: it answers whatever is asked, and cannot prove to be the daemon.
const LAUNCH = fileURLToPath(new URL('./launch.js', import.meta.url))
const KEY = 'sk-CNRYabcdefghijklmnopqrstuvwxyz0123456789'

let home: string
let impostor: Server
let heard: string[] = []
let status = 200

before(async () => {
  home = mkdtempSync(join(tmpdir(), 'broker-test-'))
  mkdirSync(join(home, 'server'))
  writeFileSync(join(home, 'server', 'bootstrap.secret'), 'CNRYbootstrap', { mode: 0o600 })
  impostor = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`)
    response.statusCode = status
    response.setHeader('content-type', 'application/json')
    response.end('{"status":"ok","version":"0.1.0","checks":{},"identity":"ada","status":"claimed"}')
  }).listen(0, '127.0.0.1')
  await once(impostor, 'listening')
  await broker('agent', 'create', 'ada')
})

beforeEach(() => {
  heard = []
})

after(() => {
  impostor.close()
  rmSync(home, { recursive: true, force: true })
})

for (const command of [
  'whoami',
  'doctor',
  'onboard',
  'login openai',
  'logout openai',
  'connections',
  'provider list',
  'log',
  'daemon start',
  'daemon stop',
  'run true',
]) {
  test(`\`broker ${command}\` tells an impostor nothing`, async () => {
    const { code, stdout } = await broker('--json', ...command.split(' '))

    assert.equal(code, 9, stdout)
    assert.equal(JSON.parse(stdout).error, 'DaemonUnavailableError')
    assert.ok(heard.length > 0)
    for (const request of heard) {
      assert.match(request, /^GET \/api\/health /)
      assert.doesNotMatch(request, /CNRY|"authorization"|x-broker-bootstrap/i)
    }
  })
}

test('one that says 503, as our own daemon does while it stops, is told nothing either, and taken for what it says', async (t) => {
  status = 503
  t.after(() => {
    status = 200
  })
  const { code, stdout } = await broker('--json', 'whoami')
  assert.equal(code, 9)
  assert.match(JSON.parse(stdout).message, /is stopping$/)
  for (const request of heard) assert.doesNotMatch(request, /CNRY|"authorization"|x-broker-bootstrap/i)
})

for (const [what, listen, said] of [
  ['speaks TLS', () => createTlsServer({}), /closes the connection without an answer/],
  ['speaks SSH', () => createTcpServer((socket) => socket.write('SSH-2.0-x\r\n')), /does not speak as the daemon does/],
  ['says nothing', () => createTcpServer(), /gives no answer within 3 seconds/],
] as const)
  test(`a stranger at the port that ${what} is called one, with what to do`, async (t) => {
    const sockets = new Set<{ destroy(): unknown }>()
    const stranger = listen().on('connection', (socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
    })
    stranger.listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    t.after(() => {
      stranger.close()
      for (const socket of sockets) socket.destroy()
    })
    for (const command of ['whoami', 'daemon start']) {
      const { code, stdout } = await brokerAt((stranger.address() as AddressInfo).port, '--json', ...command.split(' '))
      const { message, hint } = JSON.parse(stdout)
      assert.equal(code, 9)
      assert.match(message, said)
      assert.match(message, /^Something listens at .* may be another program that holds the port$/)
      assert.match(hint, /^Free the port or set BROKER_PORT to another/)
    }
  })

test('an impostor elsewhere is not remembered as the daemon', async () => {
  const url = `http://localhost:${(impostor.address() as AddressInfo).port}`

  const { code } = await broker('onboard', '--base-url', url)

  assert.equal(code, 9)
  assert.equal((await broker('agent', 'list')).code, 0)
})

/** With a key on standard input, for whoever would read it. */
function broker(...args: readonly string[]) {
  return brokerAt((impostor.address() as AddressInfo).port, ...args)
}

async function brokerAt(
  port: number,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', LAUNCH, ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, BROKER_HOME: home, BROKER_PORT: String(port) },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(`${KEY}\n`)
  const [stdout, [code]] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'close')])
  return { code, stdout: stdout.join('') }
}
