import type { CorporateProxy, ProxyEndpoint } from './corporate-proxy.ts'

/** How a run that is started within another one uses the other's proxy. */

/**
 * A CONNECT with this header is tunnelled as it is, also to a host that is intercepted: the inner run injects by itself.
 * Nothing of the outer run's is put in.
 */
export const UNTOUCHED_HEADER = 'Broker-Tunnel'

/** Everything through the proxy of the outer run, which has exceptions of its own. */
export function throughOuterRun({ forHttps, forHttp }: CorporateProxy): CorporateProxy {
  const outer = (endpoint: ProxyEndpoint | undefined) => endpoint && { ...endpoint, isOuterRun: true }
  return { forHttps: outer(forHttps), forHttp: outer(forHttp), exceptions: [] }
}
