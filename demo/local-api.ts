import { once } from 'node:events'
import { createServer } from 'node:https'
import { createCertificateAuthority } from '../src/proxy/index.ts'

interface ReceivedRequest {
  readonly line: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface LocalApi {
  readonly hosts: readonly string[]
  readonly port: number
  /** PEM of the authority that its certificate comes from. */
  readonly caPem: string
  readonly received: readonly ReceivedRequest[]
  close(): void
}

/** Asks whoever issued a token whether it is good. */
export type CheckToken = (token: string) => Promise<boolean>

/**
 * A provider's API with TLS, on loopback, under names that nobody has. It wants a key, or a token that is good now, and
 * tells what it got.
 */
export async function startLocalApi(hosts: readonly string[], wanted: string | CheckToken): Promise<LocalApi> {
  const authority = createCertificateAuthority(hosts, new Date())
  const received: ReceivedRequest[] = []
  const isGood = typeof wanted === 'string' ? async (key: string) => key === wanted : wanted
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  server.on('request', async ({ method, url, headers }, response) => {
    received.push({ line: `${method} ${url}`, headers })
    const [scheme, credential = ''] = headers.authorization?.split(' ') ?? []
    const welcome = scheme === 'Bearer' && (await isGood(credential))
    response.writeHead(welcome ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(welcome ? { models: ['acme-large', 'acme-small'] } : { error: 'no valid key' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The API has no port')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { hosts, port: address.port, caPem: authority.caPem, received, close }
}
