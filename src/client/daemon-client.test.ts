import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import { generateSigningKey, type Proof, verifyProof } from '../identity/index.ts'
import { BrokerError, Secret } from '../protocol/index.ts'
import { type DaemonCheck, expectDaemon, pinDaemon } from './daemon-check.ts'
import { DaemonClient } from './daemon-client.ts'

const daemonKey = generateSigningKey()
const agentKey = generateSigningKey()
const servers: Server[] = []
const clients: DaemonClient[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await Promise.all(servers.splice(0).map(stop))
})

test('a daemon that proves itself is asked with a proof that fits the request', async () => {
  const proofs: Proof[] = []
  const baseUrl = await listen(
    honest(async (request, response) => {
      proofs.push(
        verifyProof(request.headers.authorization?.replace(/^PoP /, '') ?? '', {
          method: request.method ?? '',
          target: request.url ?? '',
          origins: [`http://${request.headers.host}`],
          bodySha256: hash('sha256', await bodyOf(request), 'base64url'),
          now: Date.now(),
        }),
      )
      response.setHeader('content-type', 'application/json')
      response.end('{"provider":"openai","connection":"default","headers":{}}')
    }),
  )

  const resolution = await client(baseUrl).resolve({ host: 'api.openai.com' })

  assert.equal(resolution.provider, 'openai')
  assert.deepEqual(
    proofs.map(({ issuer, handle }) => ({ issuer, handle })),
    [{ issuer: agentKey.did, handle: 'ada' }],
  )
})

test('a daemon of before the list of places is named as older, with what to do', async () => {
  const baseUrl = await listen(
    honest((_, response) => {
      response.statusCode = 422
      response.setHeader('content-type', 'application/json')
      const details = [{ path: 'form', message: 'is not a known field' }]
      response.end(JSON.stringify({ error: 'InvalidRequestError', message: 'form is not a known field', details }))
    }),
  )

  await assert.rejects(client(baseUrl).resolve({ host: 'api.openai.com' }), (error: unknown) => {
    assert.ok(error instanceof BrokerError)
    assert.match(error.message, /is older than this command/)
    assert.equal(error.options.hint, 'Restart it: broker daemon restart')
    return error.name === 'DaemonUnavailableError'
  })
})

test('a program without a proof gets nothing but the challenge', async () => {
  const paths: string[] = []
  const baseUrl = await listen((request, response) => {
    paths.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
    response.end('{"status":"ok","version":"0.1.0"}')
  })

  const login = client(baseUrl).resumeAuthSession('id', { api_key: new Secret('sk-CNRYneverSent') })

  await rejectsAsUnavailable(login, /Something else listens/)
  assert.deepEqual(paths, ['GET /api/health '])
})

test('a challenge passed on to the real daemon by a program on another port proves nothing', async () => {
  const real = await listen(honest((_request, response) => response.end('{}')))
  const relay = await listen(async (request, response) => {
    const { headers } = await fetch(`${real}${request.url}`, {
      headers: { 'x-broker-challenge': String(request.headers['x-broker-challenge']) },
    })
    response.setHeader('x-broker-proof', headers.get('x-broker-proof') ?? '')
    response.end('{"status":"ok","version":"0.1.0"}')
  })

  await rejectsAsUnavailable(client(relay).whoami(), /Something else listens/)
})

test('a daemon of another home is refused', async () => {
  const baseUrl = await listen(honest((_request, response) => response.end('{}')))

  await rejectsAsUnavailable(
    client(baseUrl, expectDaemon(generateSigningKey().did)).whoami(),
    /not the daemon of this home/,
  )
  await rejectsAsUnavailable(client(baseUrl, expectDaemon(undefined)).whoami(), /not the daemon of this home/)
})

test('a daemon elsewhere is remembered at the first meeting and any other one refused', async () => {
  const baseUrl = await listen(honest((_request, response) => response.end('{}')))
  const pins: string[] = []

  await client(
    baseUrl,
    pinDaemon(undefined, (did) => pins.push(did), baseUrl),
  ).whoami()
  const other = client(baseUrl, pinDaemon(generateSigningKey().did, assert.fail, baseUrl)).whoami()

  assert.deepEqual(pins, [daemonKey.did])
  await rejectsAsUnavailable(other, /not the one this home knows/)
})

test('a program that takes the port after the daemon went has to prove itself anew', async () => {
  const first = honest((_request, response) => response.end('{"home":"/"}'))
  const baseUrl = await listen(first)
  const agent = client(baseUrl)
  await agent.whoami()
  const { port } = new URL(baseUrl)
  for (const server of servers.splice(0)) await stop(server)

  const paths: (string | undefined)[] = []
  await listen((request, response) => {
    paths.push(request.url)
    response.end('{"status":"ok","version":"0.1.0"}')
  }, Number(port))

  await rejectsAsUnavailable(agent.whoami(), /Something else listens|does not answer/)
  await rejectsAsUnavailable(agent.whoami(), /Something else listens/)
  assert.deepEqual(new Set(paths), new Set(['/api/health']))
})

test('an error of the daemon arrives whole', async () => {
  const body = {
    error: 'ConnectionAlreadyExistsError',
    message: 'There is one',
    request_id: 'r1',
    provider: 'openai',
    connection: 'default',
    hint: 'Use --force.',
    details: [{ path: 'connection', message: 'is taken' }],
  }
  const baseUrl = await listen(honest((_request, response) => response.writeHead(409).end(JSON.stringify(body))))

  await assert.rejects(client(baseUrl).startAuthSession({ provider: 'openai' as never }), (error) => {
    assert.ok(error instanceof BrokerError)
    assert.equal(error.name, 'ConnectionAlreadyExistsError')
    assert.deepEqual(error.options, {
      httpStatus: 409,
      hint: 'Use --force.',
      provider: 'openai',
      connection: 'default',
      details: body.details,
    })
    return true
  })
})

test('an answer that is not JSON is no answer of a daemon', async () => {
  const baseUrl = await listen(honest((_request, response) => response.writeHead(502).end('<html>')))

  await rejectsAsUnavailable(client(baseUrl).whoami(), /Something else listens/)
})

test('an address where nothing listens is said to be one, with what to do', async () => {
  const baseUrl = await listen(() => undefined)
  for (const server of servers.splice(0)) await stop(server)

  await assert.rejects(client(baseUrl).whoami(), (error) => {
    assert.ok(error instanceof BrokerError)
    assert.equal(error.name, 'DaemonUnavailableError')
    assert.match(error.options.hint ?? '', /broker daemon start/)
    return true
  })
})

test('plain http beyond loopback is refused before anything is sent', () => {
  for (const baseUrl of ['http://192.0.2.1:7998', 'http://broker.example', 'ftp://localhost', 'nonsense']) {
    assert.throws(() => client(baseUrl), { name: 'InvalidRequestError' })
  }
})

test('a route table is sent again only where it changed', async () => {
  const answers: number[] = []
  const baseUrl = await listen(
    honest((request, response) => {
      const status = request.headers['if-none-match'] === '"v1"' ? 304 : 200
      answers.push(status)
      response.writeHead(status, { etag: '"v1"' }).end(status === 200 ? '{"routes":[],"version":"v1"}' : '')
    }),
  )
  const agent = client(baseUrl)

  assert.deepEqual(await agent.routes(), { routes: [], version: 'v1' })
  assert.deepEqual(await agent.routes(), { routes: [], version: 'v1' })
  assert.deepEqual(answers, [200, 304])
})

function client(baseUrl: string, check: DaemonCheck = expectDaemon(daemonKey.did)): DaemonClient {
  const made = new DaemonClient({ baseUrl, check, signer: { handle: 'ada', key: agentKey } })
  clients.push(made)
  return made
}

/** Proves itself as the daemon does, and leaves the other routes to `listener`. */
function honest(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.url !== '/api/health') return listener(request, response)
    const text = `broker-daemon-proof/1\n${request.headers['x-broker-challenge']}\n${request.headers.host}`
    response.setHeader('x-broker-proof', `${daemonKey.did} ${daemonKey.sign(Buffer.from(text)).toString('base64url')}`)
    response.end('{"status":"ok","version":"0.1.0"}')
  }
}

async function listen(listener: RequestListener, port = 0): Promise<string> {
  const server = createServer(listener).listen(port, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray())
}

function rejectsAsUnavailable(promise: Promise<unknown>, message: RegExp): Promise<void> {
  return assert.rejects(promise, { name: 'DaemonUnavailableError', message })
}
