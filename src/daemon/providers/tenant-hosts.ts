import { type Authority, type HostPattern, HTTPS_PORT, matchesAuthority, patternOf } from '../../network/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { isPublic, problemOfName } from './host-rules.ts'
import { hostOfUrl, isTemplate, PLACEHOLDER, placeholdersIn, templatePattern, templatesOf } from './url-template.ts'

/** Further hosts of the tenant at this address, its own names filled in: `acme-dsn.example.net`. */
export function tenantHostsOf(
  definition: Pick<ProviderDefinition, 'base_url' | 'tenant_hosts'>,
  baseUrl: string,
): readonly HostPattern[] {
  const target = hostOfUrl(baseUrl)
  const template = templatesOf(definition).find((text) => isTemplate(text) && isOfTemplate(text, target))
  if (template === undefined) return []
  const names = namesIn(template, target.host)
  return (definition.tenant_hosts ?? []).flatMap((text) => {
    const host = filled(text, names)
    return host === undefined || host === target.host ? [] : [patternOf(host, HTTPS_PORT)]
  })
}

/** Returns whether the host is that of one of the template's tenants. */
export function isOfTemplate(template: string, target: Authority): boolean {
  return matchesAuthority(templatePattern(template), target)
}

/** Returns what the host has in the place of each placeholder. */
function namesIn(template: string, host: string): ReadonlyMap<string, string> {
  const labels = host.split('.')
  const places = templatePattern(template).hostPattern.split('.')
  const values = places.flatMap((place, at) => (place === '*' ? [labels[at] ?? ''] : []))
  return new Map(placeholdersIn(template).map((name, index) => [name, values[index] ?? '']))
}

/** Undefined where it names what this tenant's address does not have, or does not become a host's name. */
function filled(text: string, names: ReadonlyMap<string, string>): string | undefined {
  if (!placeholdersIn(text).every((name) => names.has(name))) return undefined
  const host = text.replace(PLACEHOLDER, (one) => names.get(one.slice(1, -1)) ?? '')
  return problemOfName(host) === undefined ? host : undefined
}

/** The wildcards under which requests to these hosts are looked up: `*.example.net`. */
export function tenantHostPatterns({
  tenant_hosts: texts = [],
}: Pick<ProviderDefinition, 'tenant_hosts'>): readonly HostPattern[] {
  return [...new Set(texts.map(wildcardOf))].map((host) => patternOf(host, HTTPS_PORT))
}

/** A label with a placeholder in it becomes a whole `*`: what it stands for is compared with the connection's own name. */
function wildcardOf(text: string): string {
  return text
    .split('.')
    .map((label) => (label.includes('{') ? '*' : label))
    .join('.')
}

/** Returns what is wrong with one of the `tenant_hosts` of a definition. */
export function problemOfTenantHost(definition: ProviderDefinition, text: string): string | undefined {
  if (!/^[a-z0-9{}_.-]+$/.test(text))
    return 'must be a host name with its "{placeholder}" in lower case, without a port'
  const names = placeholdersIn(text)
  if (names.length === 0) return 'must have a "{placeholder}": a host of all tenants is one of the hosts'
  const known = new Set(templatesOf(definition).flatMap(placeholdersIn))
  if (!names.every((name) => known.has(name))) return 'must have a "{placeholder}" of base_url'
  if (problemOfName(text.replace(PLACEHOLDER, 'x')) !== undefined || text.split('.').some(isSplit))
    return 'must be a host name once its "{placeholder}" is filled in'
  return isPublic(wildcardOf(text), 'of registries only')
    ? 'must have its "{placeholder}" left of a registered domain'
    : undefined
}

/** A label has one placeholder at most: two beside each other could be read in several ways. */
function isSplit(label: string): boolean {
  return (label.match(/[{}]/g) ?? []).length > 2
}
