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
    const host = says && hostIn(says.value.reveal())
    if (says && host !== undefined && !provider.brands.has(brandOf(host))) return { says, host }
  }
  return undefined
}

/** The host of an address with or without a scheme; undefined where there is none. */
function hostIn(text: string): string | undefined {
  const trimmed = text.trim()
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`)
  const host = url?.hostname ?? ''
  const isHost = /^[a-z0-9.-]+$/.test(host) || host.startsWith('[')
  return isHost && (host.includes('.') || host.startsWith('[') || host === 'localhost') ? host : undefined
}
