/** The same proxy with a broker that answers from memory: what the asking costs is the difference to the product. */
import { Secret } from '../src/protocol/index.ts'
import { parseConnectTo, startProxy } from '../src/proxy/index.ts'
import { announce, startOptions } from './child-process.ts'

export interface AtHandOptions {
  readonly host: string
  readonly key: string
  readonly connectTo: string
  readonly upstreamCa: string
}

export interface ProxyReady {
  readonly proxyUrl: string
  readonly caPem: string
}

const { host, key, connectTo, upstreamCa } = startOptions<AtHandOptions>()
const routes = { routes: [{ provider: 'bench', connection: 'default', host, port: 443 }], version: '1' }
const places = [{ in: 'header', name: 'Authorization', value: new Secret(`Bearer ${key}`) }] as const
const resolution = { provider: 'bench', connection: 'default', places }
const proxy = await startProxy({
  broker: { resolve: async () => resolution, routes: async () => routes, ship: async () => undefined },
  routes,
  runId: 'bench',
  strict: false,
  upstreamCa: [upstreamCa],
  connectTo: parseConnectTo(connectTo),
  daemonAddresses: [],
  log: () => undefined,
})
const { username, password } = proxy.credentials
announce({
  proxyUrl: `http://${username}:${password.reveal()}@127.0.0.1:${proxy.port}`,
  caPem: proxy.caPem ?? '',
} satisfies ProxyReady)
