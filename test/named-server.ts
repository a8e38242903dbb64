import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { createCertificateAuthority } from '../src/proxy/index.ts'

export interface NamedServer {
  readonly port: number
  /** PEM of the authority that its certificates come from. */
  readonly caPem: string
  /** Value of `BROKER_PROXY_CONNECT_TO` that leads each of its names to it. */
  readonly connectTo: string
  /** Every request so far; `authorization` is empty where there was none. */
  readonly seen: readonly SeenRequest[]
  close(): void
}

interface SeenRequest {
  readonly host: string
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly authorization: string
}

/** One TLS server on loopback under all these names. */
export async function startNamedServer(services: Readonly<Record<string, RequestListener>>): Promise<NamedServer> {
  const hosts = Object.keys(services)
  const authority = createCertificateAuthority(hosts, new Date())
  const seen: SeenRequest[] = []
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  server.on('request', (request, response) => {
    const { host = '', authorization = '' } = request.headers
    seen.push({ host, method: request.method ?? '', path: pathOf(request.url), authorization })
    const service = services[host]
    if (service === undefined) response.writeHead(421).end()
    else service(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  const { port } = address
  return {
    port,
    caPem: authority.caPem,
    connectTo: hosts.map((host) => `${host}:443:127.0.0.1:${port}`).join(),
    seen,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The path of a request as it was sent, without its query. */
export function pathOf(url = '/'): string {
  return url.split('?', 1)[0] ?? ''
}

/** Answers 401 with this challenge unless the request carries exactly this `Authorization`. */
export function onlyWith(authorization: string, challenge: string, service: RequestListener): RequestListener {
  return (request, response) => {
    if (request.headers.authorization === authorization) service(request, response)
    else response.writeHead(401, { 'www-authenticate': challenge }).end('{"error":"Who are you?"}')
  }
}
