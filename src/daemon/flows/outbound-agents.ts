import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { authorityOfUrl, isExcepted, isLoopback, parseNoProxy, trustContext } from '../../network/index.ts'
import { BrokerError, Secret } from '../../protocol/index.ts'

/** The proxy of the environment; loopback is never asked through it, and nothing else is asked without TLS. */
export interface OutboundProxies {
  /** `HTTPS_PROXY`; may hold a password. */
  readonly https?: Secret
  /** `NO_PROXY`. */
  readonly no?: string
}

export type AgentFor = (url: URL) => HttpAgent

/** Returns who carries a request: directly or through the proxy, trusting Node's roots, the system's and `roots` (PEM). */
export function openAgents(proxies: OutboundProxies | undefined, roots: readonly string[] = []): AgentFor {
  const proxy = proxies?.https && proxyUrl(proxies.https)
  const plain = new HttpAgent()
  // Hundreds of roots: read once, and only when somebody is asked.
  const trust = lazily(() => trustContext(roots))
  const direct = lazily(() => new HttpsAgent({ secureContext: trust() }))
  // Without NO_PROXY: which hosts are excepted is decided here, as for the requests of a run.
  const proxyEnv = (url: Secret) => ({ HTTPS_PROXY: url.reveal() })
  const proxied = proxy && lazily(() => new HttpsAgent({ secureContext: trust(), proxyEnv: proxyEnv(proxy) }))
  const exceptions = parseNoProxy(proxies?.no ?? '')
  return (url) => {
    if (url.protocol === 'http:') return plain
    const isDirect = isLoopback(url.hostname) || isExcepted(exceptions, authorityOfUrl(url))
    return proxied === undefined || isDirect ? direct() : proxied()
  }
}

function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** A host and port alone mean http. @throws BrokerError which does not repeat the value: it may hold a password */
function proxyUrl(setting: Secret): Secret {
  const text = setting.reveal()
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return new Secret(url.href)
  throw new BrokerError('InvalidRequestError', 'Cannot use HTTPS_PROXY: it is not the URL of an http or https proxy')
}
