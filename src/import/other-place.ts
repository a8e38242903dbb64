import { isCommonLoopback } from '../network/index.ts'
import { brandOf } from './brand.ts'
import type { FoundVariable } from './environment-files.ts'
import type { KeyProvider } from './key-providers.ts'

/** How variables of keys end, longest first, and how those end that say where the key is for. */
const KEY_ENDINGS =
  /_(?:PERSONAL_ACCESS_TOKEN|API_ACCESS_TOKEN|SECRET_ACCESS_KEY|ACCESS_KEY_ID|SECRET_API_KEY|API_SECRET_KEY|ACCESS_TOKEN|AUTH_TOKEN|API_TOKEN|BOT_TOKEN|SECRET_KEY|PUBLIC_KEY|ACCESS_KEY|API_SECRET|API_KEY|APIKEY|TOKEN|SECRET|KEY|PAT)$/
const PLACE_ENDINGS = [
  'BASE_URL',
  'API_BASE_URL',
  'API_BASE',
  'API_URL',
  'API_HOST',
  'API_ENDPOINT',
  'ENDPOINT_URL',
  'ENDPOINT',
  'HOST_URL',
  'HOST',
  'HOSTNAME',
  'SERVER_URL',
  'SERVER',
  'INSTANCE_URL',
  'URL',
  'URI',
] as const
/** Those that do not begin as the key does. */
const OTHER_BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  GITHUB: ['GH'],
  GH: ['GITHUB'],
  GITLAB: ['GL', 'CI'],
  SONAR: ['SONARQUBE', 'SONARCLOUD'],
  SONARQUBE: ['SONAR'],
  HF: ['HUGGINGFACE'],
  CLAUDE: ['ANTHROPIC'],
}

/** The variables that would say that this one's key is for another place than the public service. */
export function placeVariablesOf(variable: string): readonly string[] {
  const beginning = variable.replace(KEY_ENDINGS, '')
  if (beginning === variable) return []
  const beginnings = [beginning, ...(OTHER_BEGINNINGS[beginning] ?? [])]
  return beginnings.flatMap((one) => PLACE_ENDINGS.map((ending) => `${one}_${ending}`))
}

/** Where a key is for, as another variable says. */
export interface OtherPlace {
  /** The variable, and where it was found. */
  readonly says: string
  readonly source: string
  /** Undefined where it cannot be read. */
  readonly host?: string
  /** What a login could be given as its base URL; undefined where no credential may go there. */
  readonly address?: string | undefined
}

interface Variables {
  readonly found: ReadonlyMap<string, FoundVariable>
  /** By name where they were found, without a value that can be used. */
  readonly unread: ReadonlyMap<string, string>
}

/** The one that names a host of somebody else, or nobody knows which. */
export function otherPlaceOf(
  provider: KeyProvider,
  variable: string,
  { found, unread }: Variables,
): OtherPlace | undefined {
  const own = new Set(provider.variables.map(({ name }) => name))
  for (const name of placeVariablesOf(variable)) {
    if (own.has(name)) continue
    const source = unread.get(name)
    if (source !== undefined) return { says: name, source }
    const says = found.get(name)
    const url = says && urlIn(says.value.reveal())
    const host = url && hostOf(url)
    if (says && host && !isOfProvider(host, provider))
      return { says: name, source: says.source, host, address: addressOf(url, provider) }
  }
  return undefined
}

/** A host of one label is a neighbour in a network of one's own, whatever it is called. */
function isOfProvider(host: string, { brands }: KeyProvider): boolean {
  return (host.includes('.') || host.startsWith('[')) && brands.has(brandOf(host))
}

/** Without what a variable of this kind may have beside it: a user's name, a query, the API's own path. */
function addressOf(
  { protocol, hostname, origin, pathname }: URL,
  { selfHosted = [] }: KeyProvider,
): string | undefined {
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && isCommonLoopback(hostname))
  const isOfApi = selfHosted.some((path) => path !== '/*' && `${pathname}/`.startsWith(path.slice(0, -1)))
  const path = isOfApi ? '' : pathname.replace(/\/+$/, '')
  return isAllowed && /^[A-Za-z0-9._~/-]*$/.test(path) ? `${origin}${path}` : undefined
}

/** An address with or without a scheme. */
function urlIn(text: string): URL | null {
  const trimmed = text.trim()
  return URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`)
}

/** Words that such variables have for other things than a host. */
const NO_HOST = /^(?:true|false|yes|no|on|off|null|none|undefined|default|auto|\d+)$/i

/** Undefined where there is none. */
function hostOf({ hostname: host }: URL): string | undefined {
  return (/^[a-z0-9._-]+$/.test(host) && !NO_HOST.test(host)) || host.startsWith('[') ? host : undefined
}
