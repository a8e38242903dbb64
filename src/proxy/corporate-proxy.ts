import { type Authority, isExcepted, type ProxyException, parseAuthority, parseNoProxy } from '../network/index.ts'
import { BrokerError, Secret } from '../protocol/index.ts'

/** One proxy that upstream connections go through. */
export interface ProxyEndpoint extends Authority {
  /** Whether the proxy itself is spoken to over TLS. */
  readonly tls: boolean
  /** The value of `Proxy-Authorization`, where its URL has credentials. */
  readonly authorization: Secret | undefined
  /** Whether it is the proxy of a run that this one is started in: it is asked for tunnels that it leaves untouched. */
  readonly isOuterRun: boolean
}

/** The proxy settings of the environment that `broker run` was started in. */
export interface CorporateProxy {
  readonly forHttps: ProxyEndpoint | undefined
  readonly forHttp: ProxyEndpoint | undefined
  readonly exceptions: readonly ProxyException[]
}

export interface CorporateProxyEnvironment {
  readonly HTTPS_PROXY?: string | undefined
  readonly https_proxy?: string | undefined
  readonly HTTP_PROXY?: string | undefined
  readonly http_proxy?: string | undefined
  readonly NO_PROXY?: string | undefined
  readonly no_proxy?: string | undefined
}

/** Reads the parent's proxy variables, lower case before upper case; undefined where none is set. Throws InvalidRequestError. */
export function parseCorporateProxy(env: CorporateProxyEnvironment): CorporateProxy | undefined {
  const forHttps = parseEndpoint('HTTPS_PROXY', env.https_proxy ?? env.HTTPS_PROXY)
  const forHttp = parseEndpoint('HTTP_PROXY', env.http_proxy ?? env.HTTP_PROXY)
  if (forHttps === undefined && forHttp === undefined) return undefined
  return { forHttps, forHttp, exceptions: parseNoProxy(env.no_proxy ?? env.NO_PROXY ?? '') }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

function parseEndpoint(variable: string, value: string | undefined): ProxyEndpoint | undefined {
  if (value === undefined || value === '') return undefined
  const url = URL.parse(value.includes('://') ? value : `http://${value}`)
  const port = url === null ? undefined : DEFAULT_PORTS[url.protocol]
  const authority = url === null || port === undefined ? null : parseAuthority(url.host, port)
  if (url === null || authority === null) {
    // The value is not repeated: it may hold a password.
    throw new BrokerError(
      'InvalidRequestError',
      `Cannot use ${variable}: it is not the URL of an http or https proxy`,
      {
        hint: `Set ${variable} to http://host:port, or unset it.`,
      },
    )
  }
  return { ...authority, tls: url.protocol === 'https:', authorization: basicAuthorization(url), isOuterRun: false }
}

function basicAuthorization(url: URL): Secret | undefined {
  if (url.username === '' && url.password === '') return undefined
  const userinfo = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`
  return new Secret(`Basic ${Buffer.from(userinfo).toString('base64')}`)
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The proxy to go through to `target`, undefined where it is dialled directly. */
export function corporateProxyFor(
  settings: CorporateProxy | undefined,
  scheme: 'https' | 'http',
  target: Authority,
): ProxyEndpoint | undefined {
  const endpoint = scheme === 'https' ? settings?.forHttps : settings?.forHttp
  return isExcepted(settings?.exceptions ?? [], target) ? undefined : endpoint
}
