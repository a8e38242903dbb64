import { Secret } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import { clientAssertion, parseClientKey } from '../signing/index.ts'
import { clientAuthMethod, clientFields, OPEN, openNames, secretField } from './client-credentials.ts'
import { definitionAt } from './own-server.ts'

type Credential = Readonly<Record<string, Secret>>

/** Endpoints that a login found and the definition does not name: they are sealed with the client. */
export interface FoundEndpoints {
  readonly issuer?: string
  readonly tokenUrl?: string
  readonly revocationUrl?: string
  readonly resource?: string
  readonly isPrivate?: boolean
}

/** Returns what a login adds to what was entered. */
export function withEndpoints(entered: Credential, found: FoundEndpoints): Credential {
  const texts = {
    issuer: found.issuer,
    token_url: found.tokenUrl,
    revocation_url: found.revocationUrl,
    resource: found.resource,
    network: found.isPrivate ? 'private' : undefined,
  }
  const secrets = Object.entries(texts).flatMap(([name, text]) => (text ? [[name, new Secret(text)] as const] : []))
  return { ...entered, ...Object.fromEntries(secrets) }
}

/** Returns whether the token endpoint has to be found out at login. */
export function isToBeDiscovered({ oauth }: ProviderDefinition): boolean {
  return (oauth?.client_token_url ?? oauth?.token_url) === undefined
}

/** Returns what was entered: without what {@link withEndpoints} has added. */
export function enteredOf(definition: ProviderDefinition, credential: Credential): Credential {
  const names = new Set(clientFields(definition).map(({ name }) => name))
  return Object.fromEntries(Object.entries(credential).filter(([name]) => names.has(name)))
}

/** A client as it shows itself in one request. */
type ShownClient =
  | { readonly id: string; readonly auth: 'client_secret_basic' | 'client_secret_post'; readonly secret: Secret }
  | { readonly id: string; readonly auth: 'private_key_jwt'; readonly assertion: Secret }

/** One client at one server, for one request to it. */
export interface ClientParty {
  /** With the endpoints of this credential. */
  readonly definition: ProviderDefinition
  readonly server: FoundEndpoints & { readonly sendsIssuer: false; readonly takesMetadataDocument: false }
  readonly client: ShownClient
  /** Beside what the grant needs. */
  readonly parameters: Readonly<Record<string, string>>
}

/**
 * The client of a credential, and where it is shown. An assertion in it is good for one request. Undefined where the
 * credential holds no client, or nobody knows where its token comes from.
 * @param now in milliseconds
 */
export function clientParty(
  general: ProviderDefinition,
  credential: Credential,
  { baseUrl, now }: { readonly baseUrl: string | undefined; readonly now: number },
): ClientParty | undefined {
  const definition = definitionAt(general, baseUrl)
  const server = serverOf(definition, credential, baseUrl)
  if (server?.tokenUrl === undefined) return undefined
  // RFC 7523 section 3 takes either name; a server that was found by its issuer is known by that alone.
  const audience = isToBeDiscovered(definition) ? (server.issuer ?? server.tokenUrl) : server.tokenUrl
  const client = shownClient(definition, credential, audience, now)
  return (
    client && {
      definition: at(definition, server),
      server,
      client,
      parameters: parametersOf(definition, credential, baseUrl),
    }
  )
}

function serverOf(definition: ProviderDefinition, credential: Credential, baseUrl: string | undefined) {
  const { oauth = { scopes: [] } } = definition
  const url = (named: string | undefined, found: string) =>
    named === undefined ? textOf(credential, found) : filled(named, credential, baseUrl)
  const [tokenUrl, revocationUrl] = [
    url(oauth.client_token_url ?? oauth.token_url, 'token_url'),
    url(oauth.revocation_url, 'revocation_url'),
  ]
  const [issuer, resource] = [url(oauth.issuer, 'issuer'), url(oauth.resource, 'resource')]
  return {
    sendsIssuer: false,
    takesMetadataDocument: false,
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(revocationUrl !== undefined && { revocationUrl }),
    ...(issuer !== undefined && { issuer }),
    ...(resource !== undefined && { resource }),
    ...(textOf(credential, 'network') === 'private' && { isPrivate: true }),
  } as const
}

/** Lets be what the definition names: a person chose it, and it may be anywhere, with its open parts filled in, too. */
function at(definition: ProviderDefinition, { tokenUrl, revocationUrl }: FoundEndpoints): ProviderDefinition {
  const { oauth = { scopes: [] } } = definition
  if (isToBeDiscovered(definition)) return definition
  return {
    ...definition,
    oauth: { ...oauth, token_url: tokenUrl, ...(oauth.revocation_url && { revocation_url: revocationUrl }) },
  }
}

function shownClient(
  definition: ProviderDefinition,
  credential: Credential,
  audience: string,
  now: number,
): ShownClient | undefined {
  const id = textOf(credential, 'client_id')
  const secret = credential[secretField(definition)]
  if (id === undefined || secret === undefined) return undefined
  const auth = clientAuthMethod(definition)
  if (auth !== 'private_key_jwt') return { id, secret, auth }
  const key = parseClientKey(secret.reveal())
  const keyId = textOf(credential, 'kid')
  const client = key && { id, key, ...(keyId !== undefined && { keyId }) }
  return client && { id, auth, assertion: clientAssertion(client, audience, now) }
}

/** Of a field that is no secret. */
function textOf(credential: Credential, name: string): string | undefined {
  return credential[name]?.reveal()
}

/** One that names what the credential does not have is left out. */
function parametersOf(definition: ProviderDefinition, credential: Credential, baseUrl: string | undefined) {
  const isThere = (name: string) => (name === 'base_url' ? baseUrl !== undefined : name in credential)
  return Object.fromEntries(
    Object.entries(definition.oauth?.token_params ?? {}).flatMap(([name, template]) =>
      openNames(template).every(isThere) ? [[name, filled(template, credential, baseUrl)]] : [],
    ),
  )
}

/** Values in a path were checked when they were stored. */
function filled(template: string, credential: Credential, baseUrl: string | undefined): string {
  return template.replace(OPEN, (_, name: string) =>
    name === 'base_url' ? (baseUrl ?? '') : (textOf(credential, name) ?? ''),
  )
}
