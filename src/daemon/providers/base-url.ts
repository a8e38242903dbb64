import { BrokerError, type QuirkName } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { problemOfEndpoint } from './endpoint.ts'
import { type HostPattern, isPublic, matchesHost, overlap, parseHostPattern, patternOf } from './host-pattern.ts'
import { sendsOnlySignatures } from './signing-credential.ts'

const PLACEHOLDER = /\{[a-z][a-z0-9_]{0,31}\}/g

/** Whether logins must give the tenant's own URL: there is no host to send the credential to without it. */
export function needsBaseUrl(definition: ProviderDefinition): boolean {
  return isTemplate(definition) && credentialHosts(definition, undefined).length === 0
}

/**
 * Reads the base URL that a person gave at login.
 * @returns it, normalised
 * @throws {BrokerError} InvalidRequestError naming `base_url`, where the provider has no tenants or none at that URL
 */
export function parseBaseUrl(definition: ProviderDefinition, text: string): string {
  const problem = problemOfTenantUrl(definition, text)
  if (problem === undefined) return new URL(text).href.replace(/\/$/, '')
  throw new BrokerError('InvalidRequestError', `Cannot use this base URL for ${definition.name}: it ${problem}`, {
    provider: definition.name,
    details: [{ path: 'base_url', message: problem }],
  })
}

function problemOfTenantUrl(definition: ProviderDefinition, text: string): string | undefined {
  if (definition.base_url === undefined) return 'must be absent: this provider has one address for everyone'
  const problem = problemOfEndpoint(text)
  if (problem !== undefined) return problem
  if (text.includes('?')) return 'must not contain a query'
  return isOfDefinition(definition, text) ? undefined : `must look like ${definition.base_url}`
}

/** Quirks that look for the API's address in the token answer. */
const ANSWERS_ITS_URL: ReadonlySet<QuirkName> = new Set<QuirkName>([
  'api_url_in_instance_url',
  'api_url_in_api_domain',
  'api_url_in_base_url',
  'api_url_in_host',
])

/**
 * Where the API is, for a provider whose token answer says so: the one origin that the credential may go to from then on.
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

function isOfDefinition(definition: ProviderDefinition, url: string): boolean {
  if (problemOfEndpoint(url) !== undefined) return false
  const target = hostOf(url)
  return compileHosts(definition).some(({ host, port }) => port === target.port && matchesHost(host, target.host))
}

// Asked on every request; a definition never changes, it is replaced.
const compiled = new WeakMap<ProviderDefinition, readonly HostPattern[]>()

/** Every host of a definition, with the one its base URL stands for. The definition is valid. */
export function compileHosts(definition: ProviderDefinition): readonly HostPattern[] {
  const known = compiled.get(definition)
  if (known !== undefined) return known
  const hosts = hostsOf(definition)
  compiled.set(definition, hosts)
  return hosts
}

function hostsOf(definition: ProviderDefinition): readonly HostPattern[] {
  const template = templateHost(definition)
  const credential = sendsOnlySignatures(definition) ? 'signature' : 'any'
  const own = definition.hosts.flatMap((text) => {
    const parsed = parseHostPattern(text, credential)
    return 'pattern' in parsed ? [parsed.pattern] : []
  })
  return template === undefined || own.some(({ host, port }) => host === template.host && port === template.port)
    ? own
    : [...own, template]
}

/**
 * Where the credential of one connection may go. With a base URL: to that host alone. Without: to the definition's
 * hosts, of a provider with tenants only to those that are no tenant's.
 */
export function credentialHosts(
  definition: ProviderDefinition,
  connectionBaseUrl: string | undefined,
): readonly HostPattern[] {
  if (connectionBaseUrl !== undefined) return [hostOf(connectionBaseUrl)]
  const template = templateHost(definition)
  const hosts = compileHosts(definition)
  return template === undefined ? hosts : hosts.filter((pattern) => !overlap(pattern, template))
}

/** The wildcard that a `base_url` with a placeholder stands for. */
export function templateHost(definition: Pick<ProviderDefinition, 'base_url'>): HostPattern | undefined {
  return isTemplate(definition) ? templateUrlHost(definition.base_url) : undefined
}

/** What stands for the tenant in a `base_url`: `tenant` in `https://{tenant}.example.com`. */
export function tenantField(baseUrl: string): string | undefined {
  return baseUrl.match(PLACEHOLDER)?.[0].slice(1, -1)
}

function isTemplate(definition: Pick<ProviderDefinition, 'base_url'>): definition is { base_url: string } {
  return definition.base_url?.includes('{') === true
}

/** What is wrong with the `base_url` of a definition. */
export function problemOfBaseUrl(definition: ProviderDefinition): string | undefined {
  const { base_url: text } = definition
  if (text === undefined) return undefined
  const placeholders = text.match(PLACEHOLDER) ?? []
  if (placeholders.length > 1) return 'must have at most one "{placeholder}"'
  const problem = problemOfEndpoint(text.replace(PLACEHOLDER, 'x'))
  if (problem !== undefined) return problem
  return isTemplate({ base_url: text }) ? problemOfTemplate(text) : problemOfFixed(definition, text)
}

function problemOfTemplate(text: string): string | undefined {
  const isWholeLabel = /^https:\/\/(?:[a-z0-9-]+\.)*\{[a-z0-9_]+\}\.[a-z0-9.-]+(?::[0-9]+)?(?:\/[^{}?]*)?$/.test(text)
  if (!isWholeLabel) return 'must be https with its "{placeholder}" for one whole label of the host'
  // Names below a shared suffix are fine here: the credential is bound to the one tenant that was given at login.
  if (isPublic(templateUrlHost(text).host, 'of registries only'))
    return 'must have its "{placeholder}" left of a registered domain'
  return undefined
}

function problemOfFixed(definition: ProviderDefinition, text: string): string | undefined {
  const { host, port } = hostOf(text)
  const listed = compileHosts({ ...definition, base_url: undefined })
  return listed.some((pattern) => pattern.port === port && matchesHost(pattern.host, host))
    ? undefined
    : 'must be on one of the hosts'
}

function templateUrlHost(text: string): HostPattern {
  const { host, port } = hostOf(text.replace(PLACEHOLDER, 'broker-placeholder'))
  return patternOf(host.replace('broker-placeholder', '*'), port)
}

function hostOf(text: string): HostPattern {
  const url = new URL(text)
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)
  return patternOf(url.hostname.replace(/^\[|\]$/g, ''), port)
}
