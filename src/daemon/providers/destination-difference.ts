import { parse as parseDomain } from 'tldts'
import { parseHostPattern } from './host-rules.ts'

/** What a credential may reach, in lines for people. */
export interface DestinationLines {
  readonly hosts: readonly string[]
  /** Where in a request it goes, and in which form. */
  readonly injections: readonly string[]
  /** Addresses that get to see it besides the hosts. */
  readonly endpoints: readonly string[]
}

export interface DestinationDifference {
  readonly added: DestinationLines
  readonly removed: DestinationLines
  /** Whether it is known what was allowed before; where it is not, everything counts as added. */
  readonly isKnown: boolean
  /** Registrable domains among the added hosts and addresses that the credential was not for before. */
  readonly newDomains: readonly string[]
}

const NOTHING: DestinationLines = { hosts: [], injections: [], endpoints: [] }

/**
 * Returns what changed between two destinations, as {@link import('./destination-digest.ts').destinationText} writes them.
 * @param before undefined where nobody knows any more
 */
export function differenceOf(before: string | undefined, after: string): DestinationDifference {
  const [old, present] = [before === undefined ? NOTHING : linesOf(before), linesOf(after)]
  const added = without(present, old)
  const known = new Set(domainsOf(old))
  const newDomains = [...new Set(domainsOf(added))].filter((domain) => !known.has(domain))
  return { added, removed: without(old, present), isKnown: before !== undefined, newDomains }
}

/** Returns whether the credential goes to the same places in the same form: fixed headers and the like may have changed. */
export function isSameDestination({ added, removed }: DestinationDifference): boolean {
  return [added, removed].every((lines) => Object.values(lines).every((part: readonly string[]) => part.length === 0))
}

function without(lines: DestinationLines, others: DestinationLines): DestinationLines {
  const rest = (part: keyof DestinationLines) => lines[part].filter((line) => !others[part].includes(line))
  return { hosts: rest('hosts'), injections: rest('injections'), endpoints: rest('endpoints') }
}

type Json = Readonly<Record<string, unknown>>

function linesOf(text: string): DestinationLines {
  const { hosts, base_url, connection_base_url, tenant_hosts, self_hosted, ...places } = JSON.parse(text) as Json
  const { api_key, oauth, signing, injections, header_name, prefix } = places
  return {
    hosts: [...(hosts as readonly string[]), ...((tenant_hosts ?? []) as readonly string[])],
    injections: [
      ...(isJson(api_key) ? [keyLine(api_key)] : []),
      ...(isJson(oauth) ? [`header ${oauth['header_name']}: ${withPrefix(oauth['prefix'])}{access_token}`] : []),
      ...(header_name === undefined ? [] : [`header ${header_name}: ${withPrefix(prefix)}{access_token}`]),
      ...((injections ?? []) as readonly string[]).map((one) => injectionLine(JSON.parse(one) as Json)),
    ],
    endpoints: [
      ...(base_url === undefined ? [] : [`base URL ${base_url}`]),
      ...(connection_base_url === undefined ? [] : [`base URL of this connection ${connection_base_url}`]),
      ...((self_hosted ?? []) as readonly Json[]).map(
        ({ like, path }) => `on this server, ${path ?? '/*'}${like === undefined ? '' : ` in the form of ${like}`}`,
      ),
      ...(isJson(oauth) ? addresses(oauth) : []),
      ...(isJson(signing) ? Object.entries(signing).map(([name, value]) => `signing ${name} ${String(value)}`) : []),
    ],
  }
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}

function keyLine({ header_name, prefix, encoding, username, password, query_param, value }: Json): string {
  if (query_param !== undefined) return `query ${query_param}: ${value ?? '{api_key}'}`
  if (encoding === 'basic') return `header ${header_name}: ${withPrefix(prefix ?? 'Basic')}${pair(username, password)}`
  return `header ${header_name}: ${withPrefix(prefix)}${value ?? '{api_key}'}`
}

/** The key stands behind the colon, unless it is the user name or the definition says otherwise. */
function pair(username: unknown = '', password: unknown = undefined): string {
  return `${username}:${password ?? (String(username).includes('{api_key}') ? '' : '{api_key}')}`
}

function withPrefix(prefix: unknown): string {
  return prefix === undefined || prefix === '' ? '' : `${prefix} `
}

function injectionLine({ type, name, prefix, value, username, password, hosts, if_field, ...more }: Json): string {
  const condition = if_field === undefined ? '' : `, where ${if_field} was given`
  const where = Array.isArray(hosts) ? ` (on ${hosts.join(', ')}${condition})` : condition
  const rest = Object.keys(more).length > 0 ? ` ${JSON.stringify(more)}` : ''
  if (type === 'basic') return `header authorization: Basic ${username ?? ''}:${password ?? ''}${rest}${where}`
  return `${type} ${name ?? prefix ?? ''}: ${value ?? '{api_key}'}${rest}${where}`
}

/** Returns who sees tokens, and for what they are made. How a client shows its secret there changes no place. */
function addresses(oauth: Json): readonly string[] {
  return Object.entries(oauth)
    .filter(([name, value]) => value !== undefined && /_url$|^issuer$|^resource$/.test(name))
    .map(([name, value]) => `${name} ${String(value)}`)
}

/** Of a pattern as a definition writes it. */
function hostOf(text: string): string {
  const parsed = parseHostPattern(text)
  return 'pattern' in parsed ? parsed.pattern.hostPattern : text
}

function domainsOf({ hosts, endpoints }: DestinationLines): readonly string[] {
  const urls = endpoints.flatMap((line) => /https?:\/\/([^/\s:?#]+)/.exec(line)?.[1] ?? [])
  return [...hosts.map(hostOf), ...urls].map((host) => {
    const { domain } = parseDomain(host.replaceAll('*', 'x'), { allowPrivateDomains: true, validateHostname: false })
    return domain ?? host
  })
}
