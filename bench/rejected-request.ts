import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { DaemonClient } from '../src/client/index.ts'
import { createCertificateAuthority, parseConnectTo, startProxy } from '../src/proxy/index.ts'
import type { OpenIdProvider } from '../test/openid-provider.ts'
import { logIn, OAUTH_HOST } from './oauth-login.ts'
import type { Finding } from './report.ts'
import { median, ratioOf } from './statistics.ts'
import { open, requestHead } from './way.ts'

const SAMPLES = 20

/** A request whose token the host refuses, beside one whose token it takes: 401, refresh, and the request once more. */
export async function measureRejected(client: DaemonClient, provider: OpenIdProvider): Promise<Finding> {
  const host = await startHost()
  const routes = await client.routes()
  const proxy = await startProxy({
    broker: {
      resolve: (request) => client.resolve(request),
      routes: () => client.routes(),
      ship: async () => undefined,
    },
    routes,
    runId: 'bench',
    strict: false,
    upstreamCa: [host.caPem],
    connectTo: parseConnectTo(`${OAUTH_HOST}:443:127.0.0.1:${host.port}`),
    daemonAddresses: [],
    log: () => undefined,
  })
  const { username, password } = proxy.credentials
  const way = {
    name: 'refused',
    host: OAUTH_HOST,
    proxyUrl: `http://${username}:${password.reveal()}@127.0.0.1:${proxy.port}`,
    port: proxy.port,
    caPem: proxy.caPem ?? '',
    authorization: 'Bearer broker-proxy-managed',
  }
  const socket = await open(way)
  const times = { taken: [] as number[], refused: [] as number[] }
  try {
    for (let sample = 0; sample <= SAMPLES; sample++) {
      process.stderr.write(`  a token that is refused: ${sample} of ${SAMPLES}\n`)
      // A refresh is forced only now and then; a new login may be refused again.
      await logIn(client, provider, 3600)
      await timeOfOne(socket, requestHead(way, 'GET', '/'))
      const taken = await timeOfOne(socket, requestHead(way, 'GET', '/'))
      host.refuseLast()
      const refused = await timeOfOne(socket, requestHead(way, 'GET', '/'))
      // The first one warms all of it up.
      if (sample === 0) continue
      times.taken.push(taken)
      times.refused.push(refused)
    }
  } finally {
    socket.destroy()
    await proxy.close()
    host.close()
  }
  return {
    measure: 'refresh: refused with 401 and sent again, to not refused',
    ratio: ratioOf(times.refused, times.taken),
    raw: { ms: median(times.refused), 'ms not refused': median(times.taken) },
  }
}

async function startHost() {
  const authority = createCertificateAuthority([OAUTH_HOST], new Date())
  const refused = new Set<string>()
  let last = ''
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  server.on('request', ({ headers: { authorization = '' } }, response) => {
    last = authorization
    response.writeHead(refused.has(authorization) ? 401 : 200, { 'content-length': 2 }).end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    caPem: authority.caPem,
    /** From now on the token that came last is not taken. */
    refuseLast: () => refused.add(last),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function timeOfOne(socket: TLSSocket, request: string): Promise<number> {
  const started = performance.now()
  socket.write(request)
  let answer = ''
  while (!answer.endsWith('\r\n\r\nok')) answer += String((await once(socket, 'data'))[0])
  const time = performance.now() - started
  if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`The answer was ${answer}`)
  return time
}
