import { PLACES, type Place, type PlaceKind, placeTypeOf, type Template } from '../../injection/index.ts'
import type { HostPattern } from '../../network/index.ts'
import { type AuthType, BrokerError, Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { hasKey } from './client-credentials.ts'
import { isWrittenAs } from './host-rules.ts'

type ApiKey = NonNullable<ProviderDefinition['api_key']>
type Entry = NonNullable<ProviderDefinition['injections']>[number]
type Credential = Readonly<Record<string, Secret>>

/**
 * The places that carry this API key or this access token, and the fixed headers.
 * @param host the one of the definition's hosts that the request fits: it may have a form of its own
 * @throws {BrokerError} CredentialMissingError where the credential lacks what the definition sends
 */
export function injectionFor(
  definition: ProviderDefinition,
  authType: AuthType,
  credential: Credential,
  host: HostPattern,
): readonly Place[] {
  const bound = entriesOf(definition, authType).filter(({ hosts }) => hosts?.some((text) => isWrittenAs(host, text)))
  const places =
    authType === 'api_key' ? keyPlaces(definition, credential, bound) : tokenPlaces(definition, credential, bound)
  return [...places, ...Object.entries(definition.headers ?? {}).map(fixedHeader)]
}

function fixedHeader([name, value]: readonly [string, string]): Place {
  return { in: 'header', name, value: new Secret(value), onlyIfAbsent: true }
}

function keyPlaces(definition: ProviderDefinition, credential: Credential, bound: readonly Entry[]): readonly Place[] {
  const apiKey = keyForm(definition)
  const key = credential['api_key']
  const filled = (entries: readonly Entry[]) =>
    firstOfEach(entries.flatMap((entry) => furtherPlace(entry, credential) ?? []))
  const own = filled(bound)
  const isOwn = own.length > 0 || !leavesRoom(bound)
  const main = apiKey && key && (isOwn ? own : mainPlace(apiKey, credential))
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
  const main = place('header', header_name, withPrefix(prefix, token.reveal()))
  return [...(bound.length > 0 ? filled(bound) : [main]), ...filled(everywhere(definition, 'oauth2'))]
}

/** Returns whether some credentials have the usual form on a host all the same. */
export function leavesRoom(bound: readonly Entry[]): boolean {
  return bound.every((entry) => entry.if_field !== undefined)
}

/** Of those that share a place all but the last are for some credentials only. */
function firstOfEach(places: readonly Place[]): readonly Place[] {
  const identities = places.map(({ in: kind, name }) => identityOf({ kind, name }))
  return places.filter((_, index) => identities.indexOf(identities[index] ?? '') === index)
}

/** Returns whether one would be written over the other. */
export function isSamePlace(one: NamedKind, other: NamedKind): boolean {
  return identityOf(one) === identityOf(other)
}

/** A kind of place, under a name. */
type NamedKind = { readonly kind: PlaceKind; readonly name: string }

function identityOf({ kind, name }: NamedKind): string {
  return PLACES[kind].identity(name)
}

/** Returns how a key is sent, where one is: of a client, nothing but its tokens goes to the hosts. */
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
  return entryTemplates(entry).some(({ text }) => fieldsOf(text).some((name) => TOKEN_FIELDS.has(name)))
}

/** The templates of an entry, in the order in which they make its value. */
export function entryTemplates(entry: Entry): readonly Template[] {
  return placeTypeOf(entry).templatesOf(entry)
}

/** A name that carries a credential, as written in the definition. */
export interface NamedPlace {
  readonly kind: PlaceKind
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
    const path = `injections.${index}${'name' in entry ? '.name' : ''}`
    return { kind: entry.type, name: placeTypeOf(entry).nameOf(entry), path, entry }
  })
}

/** Returns where a request to this host carries a credential of this kind, in words: `header Authorization`. */
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
  return [...new Set(places.map(({ kind, name }) => PLACES[kind].shown(name)))]
}

const FIELD = /\{([a-z][a-z0-9_]*)\}/g

/** The fields that a template names. */
export function fieldsOf(template: string): readonly string[] {
  return [...template.matchAll(FIELD)].map(([, name = '']) => name)
}

function headerName(apiKey: ApiKey): string {
  return apiKey.header_name ?? 'Authorization'
}

function mainPlace(apiKey: ApiKey, credential: Credential): readonly Place[] | undefined {
  if (apiKey.encoding === 'basic') return basicPlace(apiKey, credential)
  const { query_param: parameter, prefix, value: template = '{api_key}' } = apiKey
  const value = fill(template, credential)
  if (value === undefined) return undefined
  const isBare = apiKey.value !== undefined
  const sent = isBare ? value : withPrefix(prefix, value)
  return [parameter === undefined ? place('header', headerName(apiKey), sent) : place('query', parameter, sent)]
}

function basicPlace(apiKey: ApiKey, credential: Credential): readonly Place[] | undefined {
  const username = fill(apiKey.username ?? '', credential)
  const password = fill(passwordTemplate(apiKey), credential)
  if (username === undefined || password === undefined) return undefined
  const value = `${username}:${password}`
  if (apiKey.prefix === undefined) return [place('basic', headerName(apiKey), value)]
  const encoded = Buffer.from(value).toString('base64')
  return [place('header', headerName(apiKey), withPrefix(apiKey.prefix, encoded))]
}

function place(kind: PlaceKind, name: string, value: string): Place {
  return { in: kind, name, value: new Secret(value) }
}

/** Returns what stands behind the colon of Basic: the key, unless it is the user name or the definition says otherwise. */
export function passwordTemplate({ username = '', password }: ApiKey): string {
  return password ?? (fieldsOf(username).includes('api_key') ? '' : '{api_key}')
}

function furtherPlace(entry: Entry, credential: Credential): readonly Place[] | undefined {
  if (entry.if_field !== undefined && !Object.hasOwn(credential, entry.if_field)) return undefined
  const filled = entryTemplates(entry).map(({ text }) => fill(text, credential))
  if (!filled.every((text) => text !== undefined)) return undefined
  const type = placeTypeOf(entry)
  const made = place(entry.type, type.nameOf(entry), type.valueOf(filled))
  return [entry.type === 'websocket' ? { ...made, frames: entry.frames ?? 1 } : made]
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

function missing({ name, display_name }: ProviderDefinition, what: string): BrokerError {
  return new BrokerError('CredentialMissingError', `The connection holds no ${what} for ${display_name}`, {
    provider: name,
    hint: `Log in again: broker login ${name} --force`,
  })
}
