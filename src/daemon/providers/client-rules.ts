import type { ErrorDetail } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { clientFields, grantsToClients, hasKey, openNames, secretField } from './client-credentials.ts'
import { problemOfEndpoint } from './endpoint.ts'

type OAuthSection = NonNullable<ProviderDefinition['oauth']>

/** Rules of the grant `client_credentials`. */
export function clientProblems(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { oauth } = definition
  if (oauth === undefined) return []
  if (!grantsToClients(definition)) return withoutTheGrant(oauth)
  return [
    ...missingEndpoint(oauth),
    ...methodProblems(definition, oauth),
    ...keyFormProblems(definition),
    ...fieldProblems(definition),
    ...urlProblems(definition, oauth),
    ...parameterProblems(definition, oauth),
  ]
}

function withoutTheGrant(oauth: OAuthSection): readonly ErrorDetail[] {
  const needsIt = (path: string) => ({ path: `oauth.${path}`, message: 'needs the grant "client_credentials"' })
  const own = (['client_token_url', 'client_auth_method', 'client_scopes'] as const).filter(
    (name) => oauth[name] !== undefined,
  )
  return [...(oauth.token_auth_method === 'private_key_jwt' ? ['token_auth_method'] : []), ...own].map(needsIt)
}

function missingEndpoint({ token_url, client_token_url, issuer, resource }: OAuthSection): readonly ErrorDetail[] {
  return (token_url ?? client_token_url ?? issuer ?? resource) === undefined
    ? [{ path: 'oauth.token_url', message: 'is required by the grant, unless there is an issuer or a resource' }]
    : []
}

/** A login in a browser knows no key; without one, nobody is left whom a client without a secret could stand for. */
function methodProblems({ flow }: ProviderDefinition, oauth: OAuthSection): readonly ErrorDetail[] {
  const path = 'oauth.token_auth_method'
  const isForPeople = flow !== 'api_key' || (oauth.authorization_url ?? oauth.device_authorization_url) !== undefined
  if (oauth.token_auth_method === 'private_key_jwt' && isForPeople)
    return [{ path, message: 'is for people too, who have no key: say it as "client_auth_method"' }]
  return oauth.token_auth_method === 'none' && !isForPeople
    ? [{ path, message: 'must be a way in which a client proves itself' }]
    : []
}

/** Returns what says how a key is sent where none is. */
function keyFormProblems(definition: ProviderDefinition): readonly ErrorDetail[] {
  if (hasKey(definition)) return []
  return Object.keys(definition.api_key ?? {})
    .filter((name) => name !== 'fields')
    .map((name) => ({ path: `api_key.${name}`, message: 'has no place where tokens are sent: "oauth" says how' }))
}

function fieldProblems(definition: ProviderDefinition): readonly ErrorDetail[] {
  const fields = clientFields(definition)
  const secret = secretField(definition)
  const has = (name: string, kind: 'public' | 'secret') =>
    fields.some((field) => field.name === name && field.required && field.secret === (kind === 'secret'))
  const taken = fields.find(({ name }) => ADDED.has(name))
  if (taken) return [fieldProblem(`must not be named "${taken.name}", which means something else`)]
  if (!has('client_id', 'public')) return [fieldProblem('must include the required "client_id", which is no secret')]
  return has(secret, 'secret') ? [] : [fieldProblem(`must include the required secret "${secret}"`)]
}

function fieldProblem(message: string): ErrorDetail {
  return { path: 'api_key.fields', message }
}

/** Names that {@link withEndpoints} gives to what it adds. */
const ADDED: ReadonlySet<string> = new Set(['issuer', 'token_url', 'revocation_url', 'resource', 'network'])

/** A field may be a segment of the path, as `{tenant_id}` is in Microsoft's: never of the host. */
function urlProblems(definition: ProviderDefinition, oauth: OAuthSection): readonly ErrorDetail[] {
  return (['token_url', 'client_token_url'] as const).flatMap((name) => {
    const url = oauth[name]
    const names = openNames(url ?? '').filter((field) => field !== 'base_url')
    if (url === undefined || names.length === 0) return []
    const path = `oauth.${name}`
    if (!SEGMENTS.test(url)) return [{ path, message: 'must have each "{field}" for one segment of its path' }]
    const fields = clientFields(definition)
    const isOpen = names.every((each) =>
      fields.some(({ name, secret, required }) => name === each && !secret && required),
    )
    return isOpen ? [] : [{ path, message: 'must name required fields that are no secrets' }]
  })
}

const SEGMENTS = /^(?:\{base_url\}|https?:\/\/[^/{}?]+)(?:\/(?:[^/{}?]+|\{[a-z][a-z0-9_]*\}))+$/

/** The URL of an endpoint with what is open in it filled in, as far as its rules look at it. */
export function problemOfClientEndpoint(url: string): string | undefined {
  return problemOfEndpoint(url.replace(/(?<=\/)\{[a-z][a-z0-9_]*\}(?=\/|$)/g, 'x'))
}

function parameterProblems(definition: ProviderDefinition, oauth: OAuthSection): readonly ErrorDetail[] {
  const known = new Set(clientFields(definition).flatMap(({ name, secret }) => (secret ? [] : [name])))
  if (definition.base_url !== undefined) known.add('base_url')
  return Object.entries(oauth.token_params ?? {})
    .filter(([, template]) => !openNames(template).every((name) => known.has(name)))
    .map(([name]) => ({ path: `oauth.token_params.${name}`, message: 'names a field that is not there, or a secret' }))
}
