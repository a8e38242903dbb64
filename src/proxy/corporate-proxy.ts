import { BlockList, isIP } from 'node:net'
import { BrokerError, Secret } from '../protocol/index.ts'
import { type Authority, parseAuthority } from './authority.ts'

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
  /** Entries of `NO_PROXY`, trimmed and in lower case. */
  readonly exceptions: readonly string[]
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
  const exceptions = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  return { forHttps, forHttp, exceptions: exceptions.map((entry) => entry.toLowerCase()) }
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
  if (endpoint === undefined || settings?.exceptions.some((entry) => excepts(entry, target))) return undefined
  return endpoint
}

function excepts(entry: string, target: Authority): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return subnetContains(entry, target.host)
  if (isIP(entry) !== 0) return entry === target.host
  const [, host = '', port] = /^(?:\*?\.)?(.*?)(?::([0-9]+))?$/.exec(entry) ?? []
  if (port !== undefined && Number(port) !== target.port) return false
  return target.host === host || (isIP(target.host) === 0 && target.host.endsWith(`.${host}`))
}

function subnetContains(entry: string, host: string): boolean {
  const [network = '', bits = ''] = entry.split('/')
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  const longest = family === 'ipv6' ? 128 : 32
  if (isIP(network) === 0 || isIP(host) === 0 || !/^[0-9]{1,3}$/.test(bits) || Number(bits) > longest) return false
  const subnet = new BlockList()
  subnet.addSubnet(network, Number(bits), family)
  return subnet.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
}
