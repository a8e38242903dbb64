import { type AuthType, BrokerError, Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'

/** What carries a credential. Names are as in the definition; what the client sent under them is removed first. */
export interface Injection {
  readonly headers: Readonly<Record<string, Secret>>
  /** Names out of `headers` that are set only where the client sent none: API versions and the like. */
  readonly ifAbsent: readonly string[]
  readonly query: Readonly<Record<string, Secret>>
}

type ApiKey = NonNullable<ProviderDefinition['api_key']>
type Credential = Readonly<Record<string, Secret>>
type Place = readonly ['header' | 'query', name: string, value: string]

/**
 * The headers and query parameters that carry this API key or this access token.
 * @throws {BrokerError} CredentialMissingError where the credential lacks what the definition sends
 */
export function injectionFor(definition: ProviderDefinition, authType: AuthType, credential: Credential): Injection {
  const places = authType === 'api_key' ? keyPlaces(definition, credential) : tokenPlaces(definition, credential)
  const fixed = Object.entries(definition.headers ?? {}).map(([name, value]): Place => ['header', name, value])
  return {
    headers: collect([...places, ...fixed], 'header'),
    ifAbsent: fixed.map(([, name]) => name),
    query: collect(places, 'query'),
  }
}

function keyPlaces(definition: ProviderDefinition, credential: Credential): readonly Place[] {
  const { api_key: apiKey, injections = [] } = definition
  const key = credential['api_key']
  const main = apiKey && key && mainPlace(apiKey, credential, key.reveal())
  if (!main) throw missing(definition, 'API key')
  return [main, ...injections.flatMap((entry) => furtherPlace(entry, credential) ?? [])]
}

function tokenPlaces(definition: ProviderDefinition, credential: Credential): readonly Place[] {
  const { oauth } = definition
  const token = credential['access_token']
  if (!oauth || !token) throw missing(definition, 'access token')
  const { header_name = 'Authorization', prefix = 'Bearer' } = oauth
  return [['header', header_name, withPrefix(prefix, token.reveal())]]
}

/** The names that carry an API key, as written in the definition, with the path of each. */
export function credentialPlaces({
  api_key: apiKey,
  injections = [],
}: ProviderDefinition): readonly { kind: 'header' | 'query'; name: string; path: string }[] {
  const main =
    apiKey === undefined
      ? []
      : apiKey.query_param === undefined
        ? [{ kind: 'header' as const, name: headerName(apiKey), path: 'api_key.header_name' }]
        : [{ kind: 'query' as const, name: apiKey.query_param, path: 'api_key.query_param' }]
  const further = injections.map((entry, index) =>
    entry.type === 'basic'
      ? { kind: 'header' as const, name: 'Authorization', path: `injections.${index}` }
      : { kind: entry.type, name: entry.name, path: `injections.${index}.name` },
  )
  return [...main, ...further]
}

const FIELD = /\{([a-z][a-z0-9_]*)\}/g

/** The fields that a template names. */
export function fieldsOf(template: string): readonly string[] {
  return [...template.matchAll(FIELD)].map(([, name = '']) => name)
}

function headerName(apiKey: ApiKey): string {
  return apiKey.header_name ?? 'Authorization'
}

function mainPlace(apiKey: ApiKey, credential: Credential, key: string): Place | undefined {
  if (apiKey.query_param !== undefined) return ['query', apiKey.query_param, key]
  if (apiKey.encoding !== 'basic') return ['header', headerName(apiKey), withPrefix(apiKey.prefix, key)]
  const username = fill(apiKey.username ?? '', credential)
  if (username === undefined) return undefined
  const password = fieldsOf(apiKey.username ?? '').includes('api_key') ? '' : key
  return ['header', headerName(apiKey), withPrefix(apiKey.prefix ?? 'Basic', base64(`${username}:${password}`))]
}

function furtherPlace(
  entry: NonNullable<ProviderDefinition['injections']>[number],
  credential: Credential,
): readonly Place[] | undefined {
  if (entry.type === 'basic') {
    const [username, password] = [fill(entry.username ?? '', credential), fill(entry.password ?? '', credential)]
    if (username === undefined || password === undefined) return undefined
    return [['header', 'Authorization', `Basic ${base64(`${username}:${password}`)}`]]
  }
  const value = fill(entry.value ?? '{api_key}', credential)
  return value === undefined ? undefined : [[entry.type, entry.name, value]]
}

/** Undefined where a field has no value. */
function fill(template: string, credential: Credential): string | undefined {
  if (!fieldsOf(template).every((name) => Object.hasOwn(credential, name))) return undefined
  return template.replace(FIELD, (_, name: string) => credential[name]?.reveal() ?? '')
}

function withPrefix(prefix: string | undefined, value: string): string {
  if (prefix === undefined) return value
  return /[=:]$/.test(prefix) ? `${prefix}${value}` : `${prefix} ${value}`
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function collect(places: readonly Place[], kind: Place[0]): Readonly<Record<string, Secret>> {
  return Object.fromEntries(places.filter(([of]) => of === kind).map(([, name, value]) => [name, new Secret(value)]))
}

function missing({ name, display_name }: ProviderDefinition, what: string): BrokerError {
  return new BrokerError('CredentialMissingError', `The connection holds no ${what} for ${display_name}`, {
    provider: name,
    hint: `Log in again: broker login ${name} --force`,
  })
}
