import { PLACES } from '../../injection/index.ts'
import { formatPattern, tie } from '../../network/index.ts'
import { AUTH_TYPES, type AuthType, type ErrorDetail } from '../../protocol/index.ts'
import type { Field, ProviderDefinition } from '../../schemas/index.ts'
import { problemOfBaseUrl, tenantFields, tenantPatterns } from './base-url.ts'
import { grantsToClients, hasKey } from './client-credentials.ts'
import { clientProblems, problemOfClientEndpoint } from './client-rules.ts'
import { credentialFields } from './credential.ts'
import { problemOfEndpoint } from './endpoint.ts'
import { parseHostPattern } from './host-rules.ts'
import {
  entryTemplates,
  fieldsOf,
  furtherPlaceNames,
  isForTokens,
  isSamePlace,
  leavesRoom,
  mainPlaceName,
  type NamedPlace,
  TOKEN_FIELDS,
} from './injection.ts'
import { compileKeyPattern, KeyPatternError } from './key-pattern.ts'
import { selfHostedProblems } from './self-hosted-rules.ts'
import { sendsOnlySignatures, signingProblems } from './signing-credential.ts'
import { problemOfTenantHost } from './tenant-hosts.ts'

type Rule = (definition: ProviderDefinition) => readonly ErrorDetail[]

/** Everything that contract section 8 refuses and a shape cannot say. Empty for a definition that may be used. */
export function definitionProblems(definition: ProviderDefinition): readonly ErrorDetail[] {
  return RULES.flatMap((rule) => rule(definition))
}

const RULES: readonly Rule[] = [
  flowHasItsSection,
  hostsAreAllowed,
  baseUrlIsAllowed,
  tenantHostsAreAllowed,
  selfHostedProblems,
  docsUrlIsHttps,
  sourcesAreHttps,
  environmentIsHarmless,
  environmentNamesFields,
  headersAreAllowed,
  bodyPlacesAreOne,
  boundHostsAreDecided,
  placesAreDistinct,
  fieldsIncludeTheKey,
  templatesNameFields,
  conditionsNameOptionalFields,
  entriesHaveTheirSection,
  keyFormsDoNotContradict,
  patternsCompile,
  exampleFitsPattern,
  endpointsAreSafe,
  tokenUrlIsSafe,
  signingProblems,
  clientProblems,
  flowHasItsEndpoints,
  parametersAreNotTheFlows,
]

function flowHasItsSection(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { auth_type, flow, api_key, oauth, signing } = definition
  const isKey = flow === 'api_key'
  // A client's id and secret are entered as a key is; what its requests carry is a token.
  if (isKey && auth_type === 'oauth2' && grantsToClients(definition)) return []
  if (isKey !== (auth_type === 'api_key')) return [problem('flow', `does not fit the auth_type "${auth_type}"`)]
  if (isKey && grantsToClients(definition) && !hasKey(definition)) {
    return [problem('auth_type', 'must be "oauth2" where the flow is that of the grant "client_credentials"')]
  }
  if (isKey && api_key === undefined && signing === undefined) return [problem('api_key', 'is required by the flow')]
  if (!isKey && oauth === undefined) return [problem('oauth', 'is required by the flow')]
  return []
}

function hostsAreAllowed(definition: ProviderDefinition): readonly ErrorDetail[] {
  const credential = sendsOnlySignatures(definition) ? 'signature' : 'any'
  const tenants = new Set(tenantPatterns(definition).map(formatPattern))
  return definition.hosts.flatMap((text, index) => {
    const path = `hosts.${index}`
    if (definition.hosts.indexOf(text) < index) return [problem(path, 'must not be listed twice')]
    // The tenants' own wildcard may be below a shared suffix: the credential is bound to one tenant.
    const parsed = tenants.has(text) ? undefined : parseHostPattern(text, credential)
    return parsed !== undefined && 'problem' in parsed ? [problem(path, parsed.problem)] : []
  })
}

function baseUrlIsAllowed(definition: ProviderDefinition): readonly ErrorDetail[] {
  return problems('base_url', problemOfBaseUrl(definition))
}

function tenantHostsAreAllowed(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { tenant_hosts: texts = [] } = definition
  return texts.flatMap((text, index) => {
    const path = `tenant_hosts.${index}`
    if (texts.indexOf(text) < index) return [problem(path, 'must not be listed twice')]
    return problems(path, problemOfTenantHost(definition, text))
  })
}

function docsUrlIsHttps({ docs_url: text }: ProviderDefinition): readonly ErrorDetail[] {
  if (text === undefined || isPlainHttps(text)) return []
  return [problem('docs_url', 'must be an https URL, without a user or white space')]
}

function sourcesAreHttps({ sources = [] }: ProviderDefinition): readonly ErrorDetail[] {
  return sources.flatMap((text, index) =>
    isPlainHttps(text) ? [] : [problem(`sources.${index}`, 'must be an https URL, without a user or white space')],
  )
}

/** Read by people as it is written: nothing in it may hide where it leads. */
function isPlainHttps(text: string): boolean {
  const { protocol, username, password } = URL.parse(text) ?? {}
  return protocol === 'https:' && !username && !password && /^[^\p{C}\p{Z}]+$/u.test(text)
}

/** Variables that change what a program runs, trusts or talks to, and the broker's own. */
const FORBIDDEN_VARIABLE =
  /^(?:(?:BROKER|LD|DYLD|NODE(?!_AUTH_TOKEN$)|NPM_CONFIG|DENO|LC|XDG|DBUS|SSH|SSL|GIT)_.*|.*_(?:PROXY|CA_BUNDLE|CA_FILE|WRAPPER|ASKPASS|PAGER|EDITOR|OPTS|FLAGS)|MAKEFLAGS|JAVA_HOME|CURL_HOME|DOCKER_HOST|PATH|HOME|SHELL|USER|LOGNAME|PWD|IFS|ENV|BASH_ENV|TERM|LANG|TMPDIR|TEMP|TMP|EDITOR|VISUAL|PAGER|BROWSER|PYTHON[A-Z]*|RUBY(?:OPT|LIB)|PERL5(?:OPT|LIB)|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|GCONV_PATH|MALLOC_.*)$/i

function environmentIsHarmless({ env = {} }: ProviderDefinition): readonly ErrorDetail[] {
  return Object.keys(env)
    .filter((name) => FORBIDDEN_VARIABLE.test(name))
    .map((name) => problem(`env.${name}`, 'must not be a variable that steers programs or the broker itself'))
}

function environmentNamesFields(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { env = {} } = definition
  const fields = credentialFields(definition).flatMap(({ name }) => (name === 'api_key' ? [] : [name]))
  const known = new Set(['credential', 'base_url', ...tenantFields(definition), ...fields])
  return Object.entries(env)
    .filter(([, name]) => !known.has(name))
    .map(([variable]) => problem(`env.${variable}`, 'names a field that is not there'))
}

function headersAreAllowed(definition: ProviderDefinition): readonly ErrorDetail[] {
  const fixed = Object.keys(definition.headers ?? {}).map((name) => ({
    kind: 'header' as const,
    name,
    path: `headers.${name}`,
  }))
  const places = [...AUTH_TYPES.flatMap((type) => mainPlaceName(definition, type)), ...furtherPlaceNames(definition)]
  return [...places, ...fixed].flatMap(({ kind, name, path }) => problems(path, PLACES[kind].problemOf(name)))
}

/** A string of JSON, or a field of a form. */
function bodyPlacesAreOne({ injections = [] }: ProviderDefinition): readonly ErrorDetail[] {
  return injections.flatMap((entry, index) =>
    entry.type === 'body' && entry.pointer !== undefined && entry.field !== undefined
      ? [problem(`injections.${index}.field`, 'must not stand beside a pointer')]
      : [],
  )
}

/** A request fits one of the hosts best: which form it carries is never guessed. */
function boundHostsAreDecided(definition: ProviderDefinition): readonly ErrorDetail[] {
  return (definition.injections ?? []).flatMap(({ hosts = [] }, index) =>
    hosts.flatMap((text, at) =>
      problems(`injections.${index}.hosts.${at}`, problemOfBound(definition, hosts, at, text)),
    ),
  )
}

function problemOfBound(
  { hosts }: ProviderDefinition,
  bound: readonly string[],
  at: number,
  text: string,
): string | undefined {
  if (!hosts.includes(text)) return 'must be one of the hosts'
  if (bound.indexOf(text) < at) return 'must not be listed twice'
  return hosts.some((other) => other !== text && fitEqually(other, text)) ? 'must not tie with another host' : undefined
}

function fitEqually(one: string, other: string): boolean {
  const [a, b] = [parseHostPattern(one), parseHostPattern(other)]
  return 'pattern' in a && 'pattern' in b && tie(a.pattern, b.pattern)
}

type Entry = NonNullable<ProviderDefinition['injections']>[number]

function placesAreDistinct(definition: ProviderDefinition): readonly ErrorDetail[] {
  const bound = new Set((definition.injections ?? []).flatMap(({ hosts = [] }) => hosts))
  const found = AUTH_TYPES.flatMap((type) =>
    [undefined, ...bound].flatMap((host) => repeated(placesOn(definition, type, host))),
  )
  return found.filter(({ path }, index) => found.findIndex((other) => other.path === path) === index)
}

/** Returns what a request to this host carries, or to one without entries of its own: the key or the token, never both. */
function placesOn(definition: ProviderDefinition, type: AuthType, host: string | undefined): readonly NamedPlace[] {
  const entries = furtherPlaceNames(definition).filter(({ entry }) => isForTokens(entry) === (type === 'oauth2'))
  const own = entries.filter(({ entry }) => host !== undefined && entry.hosts?.includes(host))
  const fixed = Object.keys(definition.headers ?? {}).map(
    (name): NamedPlace => ({ kind: 'header', name, path: `headers.${name}` }),
  )
  const usual = leavesRoom(own.map(({ entry }) => entry)) ? mainPlaceName(definition, type) : []
  return [
    ...withoutAlternatives([...own, ...usual]),
    ...entries.filter(({ entry }) => entry.hosts === undefined),
    ...fixed,
  ]
}

/** One that is for some credentials only leaves its place to the next. */
function withoutAlternatives(places: readonly (NamedPlace & { readonly entry?: Entry })[]): readonly NamedPlace[] {
  return places.filter(
    ({ entry, kind, name }, index) =>
      entry?.if_field === undefined || !places.slice(index + 1).some((other) => isSamePlace(other, { kind, name })),
  )
}

function repeated(places: readonly NamedPlace[]): readonly ErrorDetail[] {
  const seen = new Set<string>()
  return places.flatMap(({ kind, name, path }) => {
    const place = PLACES[kind].identity(name)
    if (!seen.has(place)) {
      seen.add(place)
      return []
    }
    return [problem(path, `must not name a ${PLACES[kind].word} that is set already`)]
  })
}

function fieldsIncludeTheKey(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { fields } = definition.api_key ?? {}
  if (fields === undefined) return []
  const repeated = fields.findIndex((field, index) => fields.findIndex(({ name }) => name === field.name) < index)
  if (repeated >= 0) return [problem(`api_key.fields.${repeated}.name`, 'must not be given twice')]
  const reserved = fields.findIndex(({ name }) => RESERVED_FIELDS.has(name))
  if (reserved >= 0) return [problem(`api_key.fields.${reserved}.name`, 'must not be a name that means something else')]
  if (!hasKey(definition)) return []
  const isThere = fields.some(({ name, secret, required }) => name === 'api_key' && secret && required)
  return isThere ? [] : [problem('api_key.fields', 'must include the required secret "api_key"')]
}

/** Names that `env` and the templates have for other things. */
const RESERVED_FIELDS: ReadonlySet<string> = new Set(['credential', 'base_url', ...TOKEN_FIELDS])

function templatesNameFields(definition: ProviderDefinition): readonly ErrorDetail[] {
  const ofKey = new Set(credentialFields(definition).map(({ name }) => name))
  return templatesOf(definition).flatMap(({ path, template, isUsername, isForTokens }) => {
    const names = isForTokens ? TOKEN_FIELDS : ofKey
    if (!fieldsOf(template).every((name) => names.has(name))) return [problem(path, 'names a field that is not there')]
    if (isUsername && template.includes(':')) return [problem(path, 'must not contain ":"')]
    return []
  })
}

function conditionsNameOptionalFields(definition: ProviderDefinition): readonly ErrorDetail[] {
  const optional = credentialFields(definition).flatMap(({ name, required }) => (required ? [] : [name]))
  return (definition.injections ?? []).flatMap(({ if_field: name }, index) =>
    name === undefined || optional.includes(name)
      ? []
      : [problem(`injections.${index}.if_field`, 'must be one of the optional fields of "api_key"')],
  )
}

interface Template {
  readonly path: string
  readonly template: string
  readonly isUsername: boolean
  readonly isForTokens: boolean
}

function templatesOf({ api_key: apiKey, injections = [] }: ProviderDefinition): readonly Template[] {
  const main = [
    { path: 'api_key.username', template: apiKey?.username ?? '', isUsername: true, isForTokens: false },
    { path: 'api_key.password', template: apiKey?.password ?? '', isUsername: false, isForTokens: false },
    { path: 'api_key.value', template: apiKey?.value ?? '', isUsername: false, isForTokens: false },
  ]
  const further = injections.flatMap((entry, index) => {
    const at = `injections.${index}`
    return entryTemplates(entry).map(({ member, text }) => ({
      path: `${at}.${member}`,
      template: text,
      isUsername: member === 'username',
      isForTokens: isForTokens(entry),
    }))
  })
  return [...main, ...further]
}

function entriesHaveTheirSection(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { oauth, signing, injections = [] } = definition
  return injections.flatMap((entry, index) => {
    const section = isForTokens(entry) ? 'oauth' : 'api_key'
    const isThere = section === 'oauth' ? (oauth ?? signing) !== undefined : hasKey(definition)
    return isThere ? [] : [problem(`injections.${index}`, `needs the section "${section}"`)]
  })
}

function keyFormsDoNotContradict({ api_key: apiKey }: ProviderDefinition): readonly ErrorDetail[] {
  if (apiKey === undefined) return []
  const isBasic = apiKey.encoding === 'basic'
  if (apiKey.username !== undefined && !isBasic) return [problem('api_key.username', 'needs the encoding "basic"')]
  if (apiKey.password !== undefined) {
    if (!isBasic) return [problem('api_key.password', 'needs the encoding "basic"')]
    const carriesKey = [apiKey.username ?? '', apiKey.password].some((text) => fieldsOf(text).includes('api_key'))
    if (!carriesKey) return [problem('api_key.password', 'must contain "{api_key}", or the username must')]
  }
  if (apiKey.value !== undefined) {
    if (isBasic || apiKey.prefix !== undefined) return [problem('api_key.value', 'has no place beside another form')]
    if (!fieldsOf(apiKey.value).includes('api_key')) return [problem('api_key.value', 'must contain "{api_key}"')]
  }
  if (apiKey.query_param === undefined) return []
  if (apiKey.prefix !== undefined) return [problem('api_key.prefix', 'has no place in a query parameter')]
  return isBasic ? [problem('api_key.encoding', 'has no place in a query parameter')] : []
}

function patternsCompile({ api_key: apiKey }: ProviderDefinition): readonly ErrorDetail[] {
  const ofFields = (apiKey?.fields ?? []).map(({ pattern }: Field, index) => ({
    path: `api_key.fields.${index}.pattern`,
    pattern,
  }))
  return [{ path: 'api_key.pattern', pattern: apiKey?.pattern }, ...ofFields].flatMap(({ path, pattern }) =>
    pattern === undefined ? [] : problems(path, problemOfPattern(pattern)),
  )
}

function problemOfPattern(pattern: string): string | undefined {
  try {
    compileKeyPattern(pattern)
    return undefined
  } catch (error) {
    if (error instanceof KeyPatternError) return error.message
    throw error
  }
}

function exampleFitsPattern({ api_key: apiKey }: ProviderDefinition): readonly ErrorDetail[] {
  const { pattern, example } = apiKey ?? {}
  if (pattern === undefined || example === undefined || problemOfPattern(pattern) !== undefined) return []
  return compileKeyPattern(pattern)(example) ? [] : [problem('api_key.example', 'must fit the pattern')]
}

const ENDPOINTS = [
  'issuer',
  'authorization_url',
  'token_url',
  'client_token_url',
  'refresh_url',
  'device_authorization_url',
  'revocation_url',
  'registration_url',
  'userinfo_url',
  'resource',
] as const

const ON_THE_TENANT = /^\{base_url\}(?=\/|$)/

/** An endpoint may be on the tenant's own host: `{base_url}/oauth/token`. */
function endpointsAreSafe({ oauth = { scopes: [] }, base_url }: ProviderDefinition): readonly ErrorDetail[] {
  return ENDPOINTS.flatMap((name) => {
    const text = oauth[name]
    if (text === undefined) return []
    const problemOf = name === 'token_url' || name === 'client_token_url' ? problemOfClientEndpoint : problemOfEndpoint
    if (!ON_THE_TENANT.test(text)) return problems(`oauth.${name}`, problemOf(text))
    if (base_url === undefined) return [problem(`oauth.${name}`, 'needs a base_url')]
    return problems(`oauth.${name}`, problemOf(text.replace(ON_THE_TENANT, 'https://tenant.example')))
  })
}

function tokenUrlIsSafe({ signing }: ProviderDefinition): readonly ErrorDetail[] {
  if (signing === undefined || signing.type === 'aws_sigv4') return []
  return problems('signing.token_url', problemOfEndpoint(signing.token_url.replace('{installation_id}', '1')))
}

/** What each flow cannot do without, where nothing is left to discover it from. */
const NEEDED_ENDPOINTS = {
  pkce: ['authorization_url', 'token_url'],
  device_code: ['device_authorization_url', 'token_url'],
  dcr_pkce: ['registration_url', 'authorization_url', 'token_url'],
  api_key: [],
} as const satisfies Record<ProviderDefinition['flow'], readonly (typeof ENDPOINTS)[number][]>

function flowHasItsEndpoints({ flow, oauth }: ProviderDefinition): readonly ErrorDetail[] {
  if (oauth === undefined || oauth.issuer !== undefined || oauth.resource !== undefined) return []
  return NEEDED_ENDPOINTS[flow]
    .filter((name) => oauth[name] === undefined)
    .map((name) => problem(`oauth.${name}`, 'is required by the flow, unless there is an issuer or a resource'))
}

/** What proves that an answer belongs to its question is the flow's to say. */
const FLOW_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'nonce',
  'redirect_uri',
  'refresh_token',
  'state',
])

function parametersAreNotTheFlows({ oauth }: ProviderDefinition): readonly ErrorDetail[] {
  return (['authorize_params', 'token_params'] as const).flatMap((section) =>
    Object.keys(oauth?.[section] ?? {})
      .filter((name) => FLOW_PARAMETERS.has(name))
      .map((name) => problem(`oauth.${section}.${name}`, 'is set by the flow itself')),
  )
}

function problem(path: string, message: string): ErrorDetail {
  return { path, message }
}

function problems(path: string, message: string | undefined): readonly ErrorDetail[] {
  return message === undefined ? [] : [problem(path, message)]
}
