import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { WebSocketServer } from 'ws'
import { createCertificateAuthority } from '../src/proxy/index.ts'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { type Cleanup, suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

/** A service that takes its key in a JSON body, and one that takes it in the first message of a WebSocket, behind `broker run`. */

const KEY = markedSecret('sk-')
const API = 'api.keys.example'
const GATEWAY = 'gateway.keys.example'

const definition = {
  schema_version: 1,
  name: 'keys',
  display_name: 'Keys',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: [API, GATEWAY],
  env: { KEYS_API_KEY: 'credential' },
  api_key: {},
  injections: [
    { type: 'body', pointer: '/auth/key', hosts: [API] },
    { type: 'websocket', pointer: '/d/token', frames: 2, hosts: [GATEWAY] },
  ],
}

/** Asks by fetch, by HTTP/2 and by a WebSocket, with what its environment has for a key; prints what each said. */
const CHILD = `
const { connect } = require('node:http2')
const body = JSON.stringify({ auth: { key: process.env.KEYS_API_KEY }, question: 'who' })
const byFetch = async () => (await fetch('https://${API}/v1', { method: 'POST', body, headers: { 'content-type': 'application/json' } })).text()
const byHttp2 = () => new Promise((resolve, reject) => {
  const session = connect('https://${API}')
  session.on('error', reject)
  const stream = session.request({ ':method': 'POST', ':path': '/v1', 'content-type': 'application/json' })
  let text = ''
  stream.on('data', (chunk) => { text += chunk }).on('end', () => { session.close(); resolve(text) })
  stream.end(body)
})
const bySocket = () => new Promise((resolve, reject) => {
  const socket = new WebSocket('wss://${GATEWAY}/')
  socket.onerror = reject
  socket.onopen = () => socket.send(JSON.stringify({ op: 2, d: { token: process.env.KEYS_API_KEY } }))
  socket.onmessage = ({ data }) => { socket.close(); resolve(data) }
})
const main = async () => console.log(JSON.stringify([process.env.KEYS_API_KEY, await byFetch(), await byHttp2(), await bySocket()]))
main()
`

/** Says whether it got the key where it wants it, and nowhere else. */
async function service(cleanup: Cleanup) {
  const authority = createCertificateAuthority([API, GATEWAY], new Date())
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  server.on('request', async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const isAuthentic = JSON.parse(text).auth.key === KEY && request.headers.authorization === undefined
    response.end(isAuthentic ? 'authentic' : 'stranger')
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, { headers }) =>
    socket.once('message', (data) => {
      const isAuthentic = JSON.parse(String(data)).d.token === KEY && headers.authorization === undefined
      socket.send(isAuthentic ? 'authentic' : 'stranger')
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.after(() => {
    sockets.close()
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return { port: address.port, caPem: authority.caPem }
}

describe('a key that goes into what is sent', { timeout: 60_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  before(async () => {
    const { port, caPem } = await service(cleanup)
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, caPem)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: [API, GATEWAY].map((host) => `${host}:443:127.0.0.1:${port}`).join(),
      BROKER_PROXY_CA_FILE: authority,
    })
    const file = join(world.folder, 'keys.json')
    writeFileSync(file, JSON.stringify(definition))
    const registered = await world.broker(['provider', 'register', file, '--yes'])
    assert.equal(registered.code, 0, registered.stderr)
    await logIn(world, 'keys', KEY)
  })

  it('is in bodies and messages of a run, whatever version of HTTP it speaks', async () => {
    const { code, stdout, stderr } = await world.broker(['run', '--', process.execPath, '-e', CHILD])
    assert.equal(code, 0, stderr)
    assert.deepEqual(JSON.parse(stdout), ['broker-proxy-managed', 'authentic', 'authentic', 'authentic'])
  })

  it('is said of by `why`, and never shown', async () => {
    const { stdout } = await world.broker(['why', `https://${API}/v1`, '--json'])
    assert.deepEqual(JSON.parse(stdout).places, ['body /auth/key'])
    assert.equal(stdout.includes(KEY), false)
  })
})
