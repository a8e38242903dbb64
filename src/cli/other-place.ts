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

/** A variable that says where a key is for, and the host that it names. */
export interface OtherPlace {
  readonly says: FoundVariable
  readonly host: string
  /** What a login could be given as its base URL; undefined where no credential may go there. */
  readonly address: string | undefined
}

/** The one that names a host of somebody else. */
export function otherPlaceOf(
  provider: KeyProvider,
  variable: string,
  found: ReadonlyMap<string, FoundVariable>,
): OtherPlace | undefined {
  const own = new Set(provider.variables.map(({ name }) => name))
  for (const name of placeVariablesOf(variable)) {
    const says = own.has(name) ? undefined : found.get(name)
    const url = says && urlIn(says.value.reveal())
    const host = url && hostOf(url)
    if (says && host && !provider.brands.has(brandOf(host))) return { says, host, address: addressOf(url, provider) }
  }
  return undefined
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Without what a variable of this kind may have beside it: a user's name, a query, the API's own path. */
function addressOf(
  { protocol, hostname, origin, pathname }: URL,
  { selfHosted = [] }: KeyProvider,
): string | undefined {
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.has(hostname))
  const isOfApi = selfHosted.some((path) => path !== '/*' && `${pathname}/`.startsWith(path.slice(0, -1)))
  const path = isOfApi ? '' : pathname.replace(/\/+$/, '')
  return isAllowed && /^[A-Za-z0-9._~/-]*$/.test(path) ? `${origin}${path}` : undefined
}

/** An address with or without a scheme. */
function urlIn(text: string): URL | null {
  const trimmed = text.trim()
  return URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`)
}

/** Undefined where there is none. */
function hostOf({ hostname: host }: URL): string | undefined {
  const isHost = /^[a-z0-9.-]+$/.test(host) || host.startsWith('[')
  return isHost && (host.includes('.') || host.startsWith('[') || host === 'localhost') ? host : undefined
}
