import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { createCertificateAuthority } from '../src/proxy/index.ts'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { startDaemon, suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { type NamedServer, startNamedServer } from './named-server.ts'
import { markedSecret } from './search-for-secret.ts'

const HOST = 'git.acme.example'
const URL_OF_USER = `https://${HOST}/api/v4/user`
const KEY = markedSecret('glpat-')

const echo: RequestListener = (request, response) => {
  response.end(JSON.stringify({ token: request.headers['private-token'] ?? '' }))
}

describe('a service with a certificate of a private authority', { timeout: 120_000 }, () => {
  const cleanup = suiteCleanup()
  let server: NamedServer
  let world: BrokerHome
  let authority: string
  let folder: string
  before(async () => {
    server = await startNamedServer({ [HOST]: echo })
    cleanup.after(() => server.close())
    const beside = dirname(temporaryHome(cleanup))
    authority = join(beside, 'authority.pem')
    writeFileSync(authority, server.caPem)
    folder = join(beside, 'certificates')
    mkdirSync(folder)
    writeFileSync(join(folder, 'acme.pem'), server.caPem)
    world = await onboarded(cleanup, { BROKER_PROXY_CONNECT_TO: server.connectTo })
    await logIn(world, 'gitlab', KEY, ['--base-url', `https://${HOST}`])
  })

  async function asked(env: Readonly<Record<string, string>>) {
    const run = await world.startAsking([], { env })
    const answer = await run.get(URL_OF_USER)
    await run.end()
    return answer
  }

  it('is told to the child by the name of that authority, with what to set', async () => {
    const { status, body } = await asked({})
    assert.equal(status, 502)
    assert.match(body.message, /of an authority that is not trusted here: it was issued by "[^"]*Broker[^"]*"/i)
    assert.match(body.hint, /BROKER_PROXY_CA_FILE/)
    assert.equal(server.seen.length, 0)
    const log = JSON.parse((await world.broker(['log', '-n', '20', '--json'])).stdout)
    assert.ok(log.some(({ reason }: { reason?: string }) => reason === 'tls_certificate'))
    const why = JSON.parse((await world.broker(['why', URL_OF_USER, '--json'])).stdout)
    assert.equal(why.steps.at(-1).result, 'tls_certificate')
    assert.match(why.fix, /BROKER_PROXY_CA_FILE/)
  })

  it('is named by no authority where the certificate is for another name', async () => {
    const authority = createCertificateAuthority(['other.acme.example'], new Date())
    const other = createTlsServer({
      SNICallback: (_, done) => done(null, authority.secureContextFor('other.acme.example')),
    })
    other.on('tlsClientError', () => {})
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    cleanup.after(() => other.close())
    const address = other.address()
    const pem = join(folder, 'other.crt.txt')
    writeFileSync(pem, authority.caPem)

    const { status, body } = await asked({
      BROKER_PROXY_CA_FILE: pem,
      BROKER_PROXY_CONNECT_TO: `${HOST}:443:127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    })

    assert.equal(status, 502)
    assert.match(body.message, /its TLS certificate is for another name/)
    const why = JSON.parse((await world.broker(['why', URL_OF_USER, '--json'])).stdout)
    assert.equal(why.steps.at(-1).result, 'tls_name')
    assert.doesNotMatch(JSON.stringify(why), /authority|CA_FILE/i)
  })

  for (const [what, env] of [
    ['BROKER_PROXY_CA_FILE', () => ({ BROKER_PROXY_CA_FILE: authority })],
    ['the user’s SSL_CERT_FILE', () => ({ SSL_CERT_FILE: authority })],
    ['the user’s SSL_CERT_DIR', () => ({ SSL_CERT_DIR: `/nowhere:${folder}` })],
  ] as const)
    it(`is trusted by ${what}`, async () => {
      const { status, body } = await asked(env())
      assert.equal(status, 200)
      assert.equal(body.token, KEY)
    })
})

describe('a hosted daemon with a certificate of a private authority', { timeout: 120_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let url: string
  let authority: string
  before(async () => {
    const made = createCertificateAuthority(['localhost'], new Date())
    authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, made.caPem)
    let port = 0
    const sockets = new Set<Socket>()
    const front = createTlsServer(
      { SNICallback: (name, done) => done(null, made.secureContextFor(name)) },
      (socket) => {
        const daemon = connect(port, '127.0.0.1')
        sockets.add(socket).add(daemon)
        for (const [one, other] of [
          [socket, daemon],
          [daemon, socket],
        ] as const) {
          one.pipe(other)
          one.on('error', () => other.destroy())
        }
      },
    )
    front.on('tlsClientError', () => {})
    front.listen(0, 'localhost')
    await once(front, 'listening')
    cleanup.after(() => {
      for (const socket of sockets) socket.destroy()
      front.close()
    })
    const address = front.address()
    url = `https://localhost:${typeof address === 'object' && address ? address.port : 0}`
    const hosted = { BROKER_PUBLIC_URL: url, BROKER_TRUSTED_PROXIES: '127.0.0.1', BROKER_ENCRYPTION_MODE: 'local_key' }
    port = (await startDaemon(cleanup, { env: hosted })).port
    world = await onboarded(cleanup)
  })
  const status = (env: Readonly<Record<string, string>>) =>
    world.broker(['daemon', 'status', '--json'], { env: { BROKER_BASE_URL: url, ...env } })

  it('is not spoken to, and the user is told what to set', async () => {
    const { stdout } = await status({})
    assert.match(stdout, /SSL_CERT_FILE/)
  })

  for (const name of ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'])
    it(`is spoken to where ${name} names that authority`, async () => {
      const { code, stdout, stderr } = await status({ [name]: authority })
      assert.equal(code, 0, stdout + stderr)
    })
})
