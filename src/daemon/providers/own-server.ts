import { hostOf, isCommonLoopback, isMetadataHost, matchesHost } from '../../network/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { isOwnServer, normalUrl, problemOfTenantUrl, tenantUrl } from './base-url.ts'
import { problemOfEndpoint } from './endpoint.ts'
import type { Provider } from './provider.ts'
import { hostOfUrl, isTemplate, templatesOf } from './url-template.ts'

/**
 * Reads the base URL that a person gave at login: a tenant's, or that of a server of the person's own.
 * @param others whose hosts no server of one's own may have
 * @returns it, normalised
 * @throws {BrokerError} InvalidRequestError naming `base_url`, and saying what would work
 */
export function parseBaseUrl(definition: ProviderDefinition, text: string, others: readonly Provider[] = []): string {
  const tenant = tenantUrl(definition, text)
  if (tenant !== undefined) return tenant
  if (definition.self_hosted === undefined)
    throw unusable(definition, problemOfTenantUrl(definition, text) ?? '', withoutServers(definition))
  const problem = problemOfOwnUrl(text)
  if (problem !== undefined) throw unusable(definition, problem, exampleOf(definition))
  const owner = ownerOf(text, others)
  if (owner !== undefined) throw foreign(definition, text, owner)
  return withoutApi(definition, normalUrl(text))
}

/** The address of the API is below that of the server, which is what is asked for. */
function withoutApi({ self_hosted: places = [] }: ProviderDefinition, address: string): string {
  const { origin, pathname } = new URL(address)
  const at = places.flatMap(({ path }) => {
    const index = path === undefined || path === '/*' ? -1 : `${pathname}/`.indexOf(path.slice(0, -1))
    return index < 0 ? [] : [index]
  })
  return at.length === 0 ? address : `${origin}${pathname.slice(0, Math.min(...at))}`
}

function unusable(definition: ProviderDefinition, problem: string, hint: string | undefined): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot use this base URL for ${definition.name}: it ${problem}`, {
    provider: definition.name,
    details: [{ path: 'base_url', message: problem }],
    ...(hint !== undefined && { hint }),
  })
}

function withoutServers(definition: ProviderDefinition): string {
  const { name, display_name: service } = definition
  const templates = templatesOf(definition).filter(isTemplate)
  if (templates.length > 0) return `broker login ${name} --base-url ${templates.join(' or ')}`
  return `${service} has no servers of your own in its definition. Say where another server's API is by a definition: broker provider register <definition.json>; see \`broker provider inspect ${name}\`.`
}

function exampleOf(definition: ProviderDefinition): string {
  const [template] = templatesOf(definition).filter(isTemplate)
  const ways = [...(template === undefined ? [] : [template]), `https://${definition.name}.acme.example`]
  return `Give the address of your own server as a browser has it: broker login ${definition.name} --base-url ${ways.join(' or ')}`
}

/** As a URL has it once it is parsed. */
const ADDRESS = /^(?:[0-9.]+|\[.*\])$/

/** Why the text is no address of a server that the credential can go to, as goes on after "it". */
function problemOfOwnUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'must be an absolute URL, with https://'
  if (text.includes('?')) return 'must not contain a query'
  const isHere = isCommonLoopback(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere))
    return 'must be https; plain http is for this machine alone: localhost, 127.0.0.1 or [::1], with a port'
  if (isHere && url.port === '') return 'must name the port of a server on this machine'
  if (url.protocol === 'https:' && ADDRESS.test(url.hostname))
    return 'must have a name and not an address: no certificate is made for an address, so that its requests could not get the credential. Give it a name in DNS, or in /etc/hosts'
  if (isMetadataHost(hostOf(url.hostname))) return 'must not be the metadata service of a cloud'
  return problemOfEndpoint(text) ?? problemOfPath(url.pathname)
}

function problemOfPath(path: string): string | undefined {
  return /^(?:\/[A-Za-z0-9._~!$&'()+,;=:@-]+)*\/?$/.test(path) ? undefined : 'must have a plain path, or none'
}

/** Whose host it is. On this machine, what listens on another port is somebody else's. */
function ownerOf(text: string, providers: readonly Provider[]): Provider | undefined {
  const { host, port } = hostOfUrl(text)
  const isSame = (other: number) => !isCommonLoopback(new URL(text).hostname) || port === other
  return providers.find(({ hosts }) => hosts.some((one) => isSame(one.port) && matchesHost(one.hostPattern, host)))
}

function foreign(definition: ProviderDefinition, text: string, owner: Provider): BrokerError {
  const { name } = definition
  const other = owner.definition.name
  const { host } = hostOfUrl(text)
  return other === name
    ? unusable(
        definition,
        `must be a server of your own: ${host} is the public service`,
        `Leave it out: broker login ${name}`,
      )
    : unusable(
        definition,
        `must not be a host of another provider: ${host} is one of ${other}'s`,
        `Log in there: broker login ${other}`,
      )
}

/** Returns what stands in the way of a login by OAuth at a server of one's own. Undefined where nothing does. */
export function withoutOwnLogin(
  definition: ProviderDefinition,
  baseUrl: string | undefined,
  wanted: 'oauth' | 'signing' | 'client',
): BrokerError | undefined {
  if (baseUrl === undefined || !isOwnServer(definition, baseUrl)) return undefined
  const { oauth, name } = definition
  const isThere = wanted === 'signing' ? false : definitionAt(definition, baseUrl).oauth !== undefined
  if (isThere || (wanted !== 'signing' && oauth === undefined)) return undefined
  const what = { oauth: 'by OAuth', signing: 'with a key that signs', client: 'as a client' }[wanted]
  return new BrokerError('OperationNotAllowedError', `Cannot log in to ${name} ${what} at a server of your own`, {
    provider: name,
    hint: `Its definition knows where that is for the public service alone. Use a key: broker login ${name} --base-url ${baseUrl} --flow api_key`,
  })
}

type OAuth = NonNullable<ProviderDefinition['oauth']>

/** Without them there is no login; the others are left out where they are not on the server. */
const NEEDED = [
  'issuer',
  'authorization_url',
  'token_url',
  'client_token_url',
  'refresh_url',
  'device_authorization_url',
  'registration_url',
  'resource',
] as const satisfies readonly (keyof OAuth)[]
const DISPENSABLE = ['revocation_url', 'userinfo_url'] as const satisfies readonly (keyof OAuth)[]

/**
 * The definition as it is for a connection with this address. At a server of the user's own, the endpoints of its OAuth
 * are those of that server; it knows no client of the public service, and no key that signs. Where the definition's
 * endpoints are on none of the hosts that the server stands for, there is no OAuth.
 */
export function definitionAt(definition: ProviderDefinition, baseUrl: string | undefined): ProviderDefinition {
  if (baseUrl === undefined || !isOwnServer(definition, baseUrl)) return definition
  const { signing: _signing, oauth, ...rest } = definition
  const own = oauth && oauthAt(definition, oauth, baseUrl)
  if (own !== undefined) return { ...rest, oauth: own }
  return rest.api_key === undefined ? rest : { ...rest, auth_type: 'api_key', flow: 'api_key' }
}

function oauthAt(definition: ProviderDefinition, oauth: OAuth, baseUrl: string): OAuth | undefined {
  const { client_id: _client, ...rest } = oauth
  const moved = (names: readonly (keyof OAuth)[]) =>
    names.flatMap((name) => {
      const url = oauth[name]
      return typeof url === 'string' ? [[name, endpointAt(definition, url, baseUrl)] as const] : []
    })
  const needed = moved(NEEDED)
  if (needed.some(([, url]) => url === undefined)) return undefined
  return { ...rest, ...Object.fromEntries([...needed, ...moved(DISPENSABLE)]) }
}

const ON_BASE_URL = /^\{base_url\}(?=\/|$)/

/** The same endpoint on the server; undefined where the server does not stand for its host. */
function endpointAt({ self_hosted = [] }: ProviderDefinition, text: string, baseUrl: string): string | undefined {
  if (ON_BASE_URL.test(text)) return text
  const { host, pathname, search, origin } = new URL(text)
  if (origin === new URL(baseUrl).origin) return text
  const isThere = self_hosted.some(({ like, path }) => {
    const [named = '', below = ''] = like?.split(/\/(.*)/s) ?? []
    const isHere = below === '' || pathname.startsWith(`/${below.slice(0, -1)}`)
    return named === host && isHere && (path === undefined || pathname.startsWith(path.slice(0, -1)))
  })
  return isThere ? `${baseUrl}${pathname}${search}` : undefined
}
