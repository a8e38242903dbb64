import { readFileSync } from 'node:fs'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
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

/** Who carries a request: directly or through the proxy, trusting Node's roots, the system's, `roots` and those of `caFile`. */
export function openAgents(
  caFile: string | undefined,
  proxies: OutboundProxies | undefined,
  roots: readonly string[] = [],
): AgentFor {
  const furtherRoots = [...roots, ...(caFile === undefined ? [] : [readRoots(caFile)])]
  const proxy = proxies?.https && proxyUrl(proxies.https)
  const plain = new HttpAgent()
  // Hundreds of roots: read once, and only when somebody is asked.
  const trust = lazily(() => createTrust(furtherRoots))
  const direct = lazily(() => new HttpsAgent({ secureContext: trust() }))
  const proxied =
    proxy && lazily(() => new HttpsAgent({ secureContext: trust(), proxyEnv: proxyEnv(proxy, proxies?.no) }))
  return ({ protocol, hostname }) => {
    if (protocol === 'http:') return plain
    return proxied === undefined || isLoopbackHost(hostname) ? direct() : proxied()
  }
}

function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}

function proxyEnv(url: Secret, exceptions: string | undefined) {
  return { HTTPS_PROXY: url.reveal(), ...(exceptions !== undefined && { NO_PROXY: exceptions }) }
}

/** A host and port alone mean http. @throws BrokerError which does not repeat the value: it may hold a password */
function proxyUrl(setting: Secret): Secret {
  const text = setting.reveal()
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return new Secret(url.href)
  throw new BrokerError('InvalidRequestError', 'Cannot use HTTPS_PROXY: it is not the URL of an http or https proxy')
}

function createTrust(furtherRoots: readonly string[]): SecureContext {
  const roots = new Set([...getCACertificates('bundled'), ...getCACertificates('system'), ...furtherRoots])
  return createSecureContext({ ca: [...roots], minVersion: 'TLSv1.2' })
}

function readRoots(path: string): string {
  try {
    const pem = readFileSync(path, 'latin1')
    createSecureContext({ ca: pem })
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem
  } catch {}
  throw new BrokerError('InvalidRequestError', `BROKER_PROXY_CA_FILE names no PEM file of certificates: "${path}"`)
}
