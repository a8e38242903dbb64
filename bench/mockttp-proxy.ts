/** mockttp as the injecting proxy: one rule that passes everything on with the real key. */
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import type { ProxyReady } from './at-hand-proxy.ts'
import { announce, startOptions } from './child-process.ts'

export interface MockttpOptions {
  readonly host: string
  readonly key: string
  readonly upstreamPort: number
  readonly upstreamCa: string
}

/** As much of it as is used here: it is no dependency of this project. */
interface Mockttp {
  generateCACertificate(options: object): Promise<{ readonly key: string; readonly cert: string }>
  getLocal(options: object): {
    readonly port: number
    start(): Promise<void>
    forAnyRequest(): { thenPassThrough(options: object): Promise<unknown> }
  }
}

// It adds a listener for each connection.
EventEmitter.defaultMaxListeners = 100

const { key, upstreamPort, upstreamCa } = startOptions<MockttpOptions>()
const mockttp = createRequire(import.meta.url)('mockttp') as Mockttp
const https = await mockttp.generateCACertificate({})
const server = mockttp.getLocal({ https, http2: false, recordTraffic: false })
await server.start()
await server.forAnyRequest().thenPassThrough({
  additionalTrustedCAs: [{ cert: upstreamCa }],
  transformRequest: {
    // Under a name that needs no DNS; the host header stays that of the request.
    replaceHost: { targetHost: `localhost:${upstreamPort}`, updateHostHeader: false },
    updateHeaders: { authorization: `Bearer ${key}` },
  },
})
announce({ proxyUrl: `http://127.0.0.1:${server.port}`, caPem: https.cert } satisfies ProxyReady)
