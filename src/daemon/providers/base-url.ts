import { type HostPattern, matchesAuthority, overlap, patternOf } from '../../network/index.ts'
import { BrokerError, type QuirkName } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { problemOfEndpoint } from './endpoint.ts'
import { isPublic, parseHostPattern } from './host-rules.ts'
import { ownPlaces } from './own-places.ts'
import { sendsOnlySignatures } from './signing-credential.ts'
import { isOfTemplate, tenantHostPatterns, tenantHostsOf } from './tenant-hosts.ts'
import { hostOfUrl, isTemplate, PLACEHOLDER, placeholdersIn, templatePattern, templatesOf } from './url-template.ts'

/** Returns whether logins must give the URL of a tenant or a server: there is no host to send the credential to without it. */
export function needsBaseUrl(definition: ProviderDefinition): boolean {
  return credentialHosts(definition, undefined).length === 0
}

/** As a connection keeps it. @returns undefined where the text is no base URL of one of the definition's hosts */
export function tenantUrl(definition: ProviderDefinition, text: string): string | undefined {
  return problemOfTenantUrl(definition, text) === undefined ? normalUrl(text) : undefined
}

/** Without a slash at its end. The text is a URL. */
export function normalUrl(text: string): string {
  return new URL(text).href.replace(/\/$/, '')
}

/** Why the text is no base URL of a tenant, as goes on after "it". */
export function problemOfTenantUrl(definition: ProviderDefinition, text: string): string | undefined {
  if (definition.base_url === undefined) return 'must be absent: this provider has one address for everyone'
  const problem = problemOfEndpoint(text)
  if (problem !== undefined) return problem
  if (text.includes('?')) return 'must not contain a query'
  return isOfDefinition(definition, text) ? undefined : `must look like ${templatesOf(definition).join(' or ')}`
}

/** Quirks that look for the API's address in the token answer. */
const ANSWERS_ITS_URL: ReadonlySet<QuirkName> = new Set<QuirkName>([
  'api_url_in_instance_url',
  'api_url_in_api_domain',
  'api_url_in_base_url',
  'api_url_in_host',
])

/**
 * Returns where the API is, for a provider whose token answer says so: the one origin that the credential may go to from then on.
 * @param text as the answer has it, with or without a scheme
 * @returns undefined for all other providers
 * @throws {BrokerError} AuthenticationFailedError where the answer says nothing, or names a host that is none of the
 *   definition's
 */
export function answeredBaseUrl(definition: ProviderDefinition, text: string | undefined): string | undefined {
  if (!definition.oauth?.quirks?.some((quirk) => ANSWERS_ITS_URL.has(quirk))) return undefined
  const url = text === undefined ? undefined : text.includes('://') ? text : `https://${text}`
  if (url !== undefined && isOfDefinition(definition, url)) return new URL(url).origin
  throw new BrokerError(
    'AuthenticationFailedError',
    `${definition.display_name} did not say where its API is, or named a host that is none of the provider's`,
    { provider: definition.name },
  )
}

/** Returns whether the URL is on one of the definition's hosts, or on a tenant's. */
function isOfDefinition(definition: ProviderDefinition, url: string): boolean {
  if (problemOfEndpoint(url) !== undefined) return false
  const target = hostOfUrl(url)
  const isListed = ownHosts(definition).some((pattern) => matchesAuthority(pattern, target))
  return isListed || templatesOf(definition).some((template) => isOfTemplate(template, target))
}

type HostsOf = (definition: ProviderDefinition) => readonly HostPattern[]

// Asked on every request; a definition never changes, it is replaced.
function onceFor(hostsOf: HostsOf): HostsOf {
  const known = new WeakMap<ProviderDefinition, readonly HostPattern[]>()
  return (definition) => {
    const hosts = known.get(definition) ?? hostsOf(definition)
    known.set(definition, hosts)
    return hosts
  }
}

/** Those that the definition lists. */
const ownHosts = onceFor(parsedHosts)

/** Every host of a definition, with those of its tenants. The definition is valid. */
export const compileHosts = onceFor(allHosts)

function allHosts(definition: ProviderDefinition): readonly HostPattern[] {
  const own = ownHosts(definition)
  const tenants = tenantPatterns(definition).filter(
    (tenant, index, all) => ![...own, ...all.slice(0, index)].some((other) => isSameHost(tenant, other)),
  )
  return [...own, ...tenants]
}

function isSameHost(one: HostPattern, other: HostPattern): boolean {
  return one.hostPattern === other.hostPattern && one.port === other.port
}

function parsedHosts(definition: ProviderDefinition): readonly HostPattern[] {
  const credential = sendsOnlySignatures(definition) ? 'signature' : 'any'
  return definition.hosts.flatMap((text) => {
    const parsed = parseHostPattern(text, credential)
    return 'pattern' in parsed ? [parsed.pattern] : []
  })
}

/** The wildcards that tenants' addresses stand for. */
export function tenantPatterns(
  definition: Pick<ProviderDefinition, 'base_url' | 'tenant_hosts'>,
): readonly HostPattern[] {
  const templates = templatesOf(definition).filter(isTemplate).map(templatePattern)
  return [...templates, ...tenantHostPatterns(definition)]
}

/**
 * Returns where the credential of one connection may go. With a base URL: to that host, and to the further hosts of that tenant,
 * or to the places of the user's own server. Without: to the definition's hosts, of a provider with tenants only to those
 * that are no tenant's.
 */
export function credentialHosts(
  definition: ProviderDefinition,
  connectionBaseUrl: string | undefined,
): readonly HostPattern[] {
  if (connectionBaseUrl !== undefined) {
    if (isOwnServer(definition, connectionBaseUrl))
      return ownPlaces(definition, connectionBaseUrl).map(({ pattern }) => pattern)
    const { host, port } = hostOfUrl(connectionBaseUrl)
    return [patternOf(host, port), ...tenantHostsOf(definition, connectionBaseUrl)]
  }
  const tenants = tenantPatterns(definition)
  const hosts = compileHosts(definition)
  return tenants.length === 0 ? hosts : hosts.filter((host) => !tenants.some((tenant) => overlap(host, tenant)))
}

/** Returns whether a connection with this address is for a server of the user's own, which is none of the service's tenants. */
export function isOwnServer(definition: ProviderDefinition, baseUrl: string): boolean {
  return definition.self_hosted !== undefined && !isOfDefinition(definition, baseUrl)
}

/** Returns what stands for the tenant in `base_url`: `tenant` in `https://{tenant}.example.com`. */
export function tenantFields(definition: Pick<ProviderDefinition, 'base_url'>): readonly string[] {
  return [...new Set(templatesOf(definition).flatMap(placeholdersIn))]
}

/** Returns what is wrong with the `base_url` of a definition. */
export function problemOfBaseUrl(definition: ProviderDefinition): string | undefined {
  const templates = templatesOf(definition)
  if (templates.some((text, index) => templates.indexOf(text) < index)) return 'must not have an address twice'
  return templates.map((text) => problemOfOne(definition, text)).find((problem) => problem !== undefined)
}

const MOST_PLACEHOLDERS = 4

function problemOfOne(definition: ProviderDefinition, text: string): string | undefined {
  const names = placeholdersIn(text)
  if (names.length > MOST_PLACEHOLDERS) return `must have at most ${MOST_PLACEHOLDERS} of "{placeholder}"`
  if (new Set(names).size < names.length) return 'must not have a "{placeholder}" twice'
  const problem = problemOfEndpoint(text.replace(PLACEHOLDER, 'x'))
  if (problem !== undefined) return problem
  return isTemplate(text) ? problemOfTemplate(text) : problemOfFixed(definition, text)
}

function problemOfTemplate(text: string): string | undefined {
  const isWholeLabel = /^https:\/\/(?:(?:[a-z0-9-]+|\{[a-z0-9_]+\})\.)+[a-z0-9-]+(?::[0-9]+)?(?:\/[^{}?]*)?$/.test(text)
  if (!isWholeLabel) return 'must be https with its "{placeholder}" for one whole label of the host'
  // Names below a shared suffix are fine here: the credential is bound to the one tenant that was given at login.
  if (isPublic(templatePattern(text).hostPattern, 'of registries only'))
    return 'must have its "{placeholder}" left of a registered domain'
  return undefined
}

function problemOfFixed(definition: ProviderDefinition, text: string): string | undefined {
  const target = hostOfUrl(text)
  const listed = compileHosts({ ...definition, base_url: undefined })
  return listed.some((pattern) => matchesAuthority(pattern, target)) ? undefined : 'must be on one of the hosts'
}
