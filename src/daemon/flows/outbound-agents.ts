import { readFileSync } from 'node:fs'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { getCACertificates } from 'node:tls'
import { BrokerError, Secret } from '../../protocol/index.ts'
import { isLoopbackHost } from './outside-url.ts'

/** The proxy of the environment; loopback is never asked through it, and nothing else is asked without TLS. */
export interface OutboundProxies {
  /** `HTTPS_PROXY`; may hold a password. */
  readonly https?: Secret
  /** `NO_PROXY`. */
  readonly no?: string
}

export type AgentFor = (url: URL) => HttpAgent

/** Who carries a request: directly or through the proxy, trusting Node's roots, the system's and those of `caFile`. */
export function openAgents(caFile: string | undefined, proxies: OutboundProxies | undefined): AgentFor {
  const furtherRoots = caFile === undefined ? [] : [readRoots(caFile)]
  const proxy = proxies?.https && proxyUrl(proxies.https)
  let direct: HttpsAgent | undefined
  let proxied: HttpsAgent | undefined
  const plain = new HttpAgent()
  return (url) => {
    if (url.protocol === 'http:') return plain
    if (proxy === undefined || isLoopbackHost(url.hostname)) {
      direct ??= new HttpsAgent(trust(furtherRoots))
      return direct
    }
    proxied ??= new HttpsAgent({
      ...trust(furtherRoots),
      proxyEnv: { HTTPS_PROXY: proxy.reveal(), ...(proxies?.no !== undefined && { NO_PROXY: proxies.no }) },
    })
    return proxied
  }
}

/** A host and port alone mean http. @throws BrokerError which does not repeat the value: it may hold a password */
function proxyUrl(setting: Secret): Secret {
  const text = setting.reveal()
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return new Secret(url.href)
  throw new BrokerError('InvalidRequestError', 'Cannot use HTTPS_PROXY: it is not the URL of an http or https proxy')
}

function trust(furtherRoots: readonly string[]) {
  const roots = new Set([...getCACertificates('bundled'), ...getCACertificates('system'), ...furtherRoots])
  return { ca: [...roots], minVersion: 'TLSv1.2' as const }
}

function readRoots(path: string): string {
  const pem = readIfThere(path)
  if (pem?.includes('-----BEGIN CERTIFICATE-----')) return pem
  throw new BrokerError('InvalidRequestError', `BROKER_PROXY_CA_FILE names no PEM file of certificates: "${path}"`)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
