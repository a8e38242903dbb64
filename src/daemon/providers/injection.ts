import type { HostPattern } from '../../network/index.ts'
import { type AuthType, BrokerError, Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { hasKey } from './client-credentials.ts'
import { isWrittenAs } from './host-rules.ts'

/** What carries a credential. Names are as in the definition; what the client sent under them is removed first. */
export interface Injection {
  readonly headers: Readonly<Record<string, Secret>>
  /** Names out of `headers` that are set only where the client sent none: API versions and the like. */
  readonly ifAbsent: readonly string[]
  readonly query: Readonly<Record<string, Secret>>
  /**
   * The first segment of the path that begins with `prefix` becomes `segment`; both with their slash. Where `prefix`
   * ends in one, only a path that begins with it changes: that and its next segment become `segment`.
   */
  readonly path?: { readonly prefix: string; readonly segment: Secret }
}

type ApiKey = NonNullable<ProviderDefinition['api_key']>
type Entry = NonNullable<ProviderDefinition['injections']>[number]
type Credential = Readonly<Record<string, Secret>>
type Place = readonly ['header' | 'query' | 'path', name: string, value: string]

/**
 * The headers and query parameters that carry this API key or this access token.
 * @param host the one of the definition's hosts that the request fits: it may have a form of its own
 * @throws {BrokerError} CredentialMissingError where the credential lacks what the definition sends
 */
export function injectionFor(
  definition: ProviderDefinition,
  authType: AuthType,
  credential: Credential,
  host: HostPattern,
): Injection {
  const bound = entriesOf(definition, authType).filter(({ hosts }) => hosts?.some((text) => isWrittenAs(host, text)))
  const places =
    authType === 'api_key' ? keyPlaces(definition, credential, bound) : tokenPlaces(definition, credential, bound)
  const fixed = Object.entries(definition.headers ?? {}).map(([name, value]): Place => ['header', name, value])
  const segment = places.find(([kind]) => kind === 'path')
  return {
    headers: collect([...places, ...fixed], 'header'),
    ifAbsent: fixed.map(([, name]) => name),
    query: collect(places, 'query'),
    ...(segment !== undefined && { path: { prefix: segment[1], segment: new Secret(segment[2]) } }),
  }
}

function keyPlaces(definition: ProviderDefinition, credential: Credential, bound: readonly Entry[]): readonly Place[] {
  const apiKey = keyForm(definition)
  const key = credential['api_key']
  const filled = (entries: readonly Entry[]) =>
    firstOfEach(entries.flatMap((entry) => furtherPlace(entry, credential) ?? []))
  const own = filled(bound)
  const isOwn = own.length > 0 || !leavesRoom(bound)
  const main = apiKey && key && (isOwn ? own : mainPlace(apiKey, credential, key.reveal()))
  if (!main || main.length === 0) throw missing(definition, 'API key')
  return [...main, ...filled(everywhere(definition, 'api_key'))]
}

function tokenPlaces(
  definition: ProviderDefinition,
  credential: Credential,
  bound: readonly Entry[],
): readonly Place[] {
  const { oauth, signing } = definition
  const { access_token: token, client_id: clientId } = credential
  if (!(oauth ?? signing) || !token) throw missing(definition, 'access token')
  const fields = { access_token: token, ...(clientId && { oauth_client_id: clientId }) }
  const filled = (entries: readonly Entry[]) => entries.flatMap((entry) => furtherPlace(entry, fields) ?? [])
  const { header_name = 'Authorization', prefix = 'Bearer' } = oauth ?? {}
  const main: Place = ['header', header_name, withPrefix(prefix, token.reveal())]
  return [...(bound.length > 0 ? filled(bound) : [main]), ...filled(everywhere(definition, 'oauth2'))]
}

/** Whether some credentials have the usual form on a host all the same. */
export function leavesRoom(bound: readonly Entry[]): boolean {
  return bound.every((entry) => entry.if_field !== undefined)
}

/** Of those that share a place all but the last are for some credentials only. */
function firstOfEach(places: readonly Place[]): readonly Place[] {
  return places.filter((place, index) => places.findIndex((other) => isSamePlace(place, other)) === index)
}

function isSamePlace([kind, name]: Place, [otherKind, otherName]: Place): boolean {
  return placeId(kind, name) === placeId(otherKind, otherName)
}

/** Equal for two that would be written over each other. There is one path. */
export function placeId(kind: Place[0], name: string): string {
  return { header: `header ${name.toLowerCase()}`, query: `query ${name}`, path: 'path' }[kind]
}

/** How a key is sent, where one is: of a client, nothing but its tokens goes to the hosts. */
export function keyForm(definition: ProviderDefinition): ApiKey | undefined {
  return hasKey(definition) ? definition.api_key : undefined
}

/** The entries of `injections` for credentials of this type. */
export function entriesOf({ injections = [] }: ProviderDefinition, authType: AuthType): readonly Entry[] {
  return injections.filter((entry) => isForTokens(entry) === (authType === 'oauth2'))
}

function everywhere(definition: ProviderDefinition, authType: AuthType): readonly Entry[] {
  return entriesOf(definition, authType).filter(({ hosts }) => hosts === undefined)
}

/** What an entry for tokens can name: the token, and the id of the OAuth client that it was given to. */
export const TOKEN_FIELDS: ReadonlySet<string> = new Set(['access_token', 'oauth_client_id'])

export function isForTokens(entry: Entry): boolean {
  return templatesOf(entry).some((text) => fieldsOf(text).some((name) => TOKEN_FIELDS.has(name)))
}

function templatesOf(entry: Entry): readonly string[] {
  if (entry.type === 'path') return []
  return entry.type === 'basic' ? [entry.username ?? '', entry.password ?? ''] : [entry.value ?? '']
}

/** A name that carries a credential, as written in the definition. */
export interface NamedPlace {
  readonly kind: 'header' | 'query' | 'path'
  readonly name: string
  /** Where in the definition. */
  readonly path: string
}

/** The place of a credential of this type on hosts that have no entry of their own. */
export function mainPlaceName(definition: ProviderDefinition, authType: AuthType): readonly NamedPlace[] {
  const { oauth } = definition
  const apiKey = keyForm(definition)
  if (authType === 'oauth2')
    return oauth === undefined
      ? []
      : [{ kind: 'header', name: oauth.header_name ?? 'Authorization', path: 'oauth.header_name' }]
  if (apiKey === undefined) return []
  return apiKey.query_param === undefined
    ? [{ kind: 'header', name: headerName(apiKey), path: 'api_key.header_name' }]
    : [{ kind: 'query', name: apiKey.query_param, path: 'api_key.query_param' }]
}

/** The places of `injections`, each with its entry. */
export function furtherPlaceNames({ injections = [] }: ProviderDefinition): readonly (NamedPlace & { entry: Entry })[] {
  return injections.map((entry, index) => {
    const path = `injections.${index}`
    if (entry.type === 'basic') return { kind: 'header', name: 'Authorization', path, entry }
    if (entry.type === 'path') return { kind: 'path', name: entry.prefix, path, entry }
    return { kind: entry.type, name: entry.name, path: `${path}.name`, entry }
  })
}

/** Where a request to this host carries a credential of this kind, in words: `header Authorization`. */
export function placeNamesFor(
  definition: ProviderDefinition,
  authType: AuthType,
  host: HostPattern,
): readonly string[] {
  const further = furtherPlaceNames(definition).filter(({ entry }) => isForTokens(entry) === (authType === 'oauth2'))
  const isBound = ({ entry }: { entry: Entry }) => entry.hosts?.some((text) => isWrittenAs(host, text)) === true
  const bound = further.filter(isBound)
  const main = mainPlaceName(definition, authType)
  const places: readonly NamedPlace[] = [
    ...bound,
    ...(leavesRoom(bound.map(({ entry }) => entry)) ? main : []),
    ...further.filter(({ entry }) => entry.hosts === undefined),
  ]
  return [...new Set(places.map(({ kind, name }) => `${kind} ${name}`))]
}

const FIELD = /\{([a-z][a-z0-9_]*)\}/g

/** The fields that a template names. */
export function fieldsOf(template: string): readonly string[] {
  return [...template.matchAll(FIELD)].map(([, name = '']) => name)
}

function headerName(apiKey: ApiKey): string {
  return apiKey.header_name ?? 'Authorization'
}

function mainPlace(apiKey: ApiKey, credential: Credential, key: string): readonly Place[] | undefined {
  if (apiKey.encoding !== 'basic') {
    const value = apiKey.value === undefined ? withPrefix(apiKey.prefix, key) : fill(apiKey.value, credential)
    if (value === undefined) return undefined
    const { query_param: parameter } = apiKey
    return [parameter === undefined ? ['header', headerName(apiKey), value] : ['query', parameter, value]]
  }
  const username = fill(apiKey.username ?? '', credential)
  const password = fill(passwordTemplate(apiKey), credential)
  if (username === undefined || password === undefined) return undefined
  return [['header', headerName(apiKey), withPrefix(apiKey.prefix ?? 'Basic', base64(`${username}:${password}`))]]
}

/** What stands behind the colon of Basic: the key, unless it is the user name or the definition says otherwise. */
export function passwordTemplate({ username = '', password }: ApiKey): string {
  return password ?? (fieldsOf(username).includes('api_key') ? '' : '{api_key}')
}

function furtherPlace(entry: Entry, credential: Credential): readonly Place[] | undefined {
  if (entry.if_field !== undefined && !Object.hasOwn(credential, entry.if_field)) return undefined
  if (entry.type === 'basic') {
    const [username, password] = [fill(entry.username ?? '', credential), fill(entry.password ?? '', credential)]
    if (username === undefined || password === undefined) return undefined
    return [['header', 'Authorization', `Basic ${base64(`${username}:${password}`)}`]]
  }
  if (entry.type === 'path') {
    const segment = fill(`${entry.prefix}{api_key}`, credential)
    return segment === undefined ? undefined : [['path', entry.prefix, segment]]
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
  if (prefix === undefined || prefix === '') return value
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
