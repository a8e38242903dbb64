import { BrokerError, type ErrorDetail, Secret, type SecretInput } from '../../protocol/index.ts'
import type { Field, ProviderDefinition } from '../../schemas/index.ts'
import type { OAuthClient, OAuthServer } from '../flows/index.ts'

type AuthMethod = OAuthClient['auth']

/** Returns what is asked about the OAuth app that a user has made at a provider which knows nobody else. */
export function appFields({ display_name, oauth }: ProviderDefinition): readonly Field[] {
  const id: Field = {
    name: 'client_id',
    label: `${display_name} client ID`.slice(0, 80),
    secret: false,
    required: true,
  }
  const method = methodOf(oauth)
  if (method === 'none') return [id]
  const required = method !== undefined
  return [id, { name: 'client_secret', label: `${display_name} client secret`.slice(0, 80), secret: true, required }]
}

/** @throws BrokerError InvalidRequestError naming each field that will not do, never its value */
export function parseApp(definition: ProviderDefinition, server: OAuthServer, input: SecretInput): OAuthClient {
  const fields = appFields(definition)
  const given = new Map(Object.entries(input).flatMap(([name, value]) => nonEmpty(name, value.reveal())))
  const details = [
    ...[...given.keys()].filter((name) => !fields.some((field) => field.name === name)).map(unknownField),
    ...fields.flatMap((field) => problemOf(field, given.get(field.name))),
  ]
  if (details.length > 0) throw unusable(definition, details)
  const secret = given.get('client_secret')
  return {
    id: given.get('client_id') ?? '',
    auth: authMethod(definition, server, secret === undefined ? 'public' : 'confidential'),
    ...(secret !== undefined && { secret: new Secret(secret) }),
  }
}

function nonEmpty(name: string, value: string): readonly (readonly [string, string])[] {
  return value === '' ? [] : [[name, value]]
}

// A name is repeated only where it looks like one: somebody may have put the secret in its place.
const NAME = /^[a-z][a-z_]{0,31}$/

function unknownField(name: string): ErrorDetail {
  return { path: `input.${NAME.test(name) ? name : '?'}`, message: 'is not a field of this provider' }
}

// RFC 6749, appendix A.1 and A.2, without white space at the ends.
const CLIENT_TEXT = /^[!-~](?:[ -~]*[!-~])?$/
const LONGEST = 2_000

function problemOf({ name, required }: Field, value: string | undefined): readonly ErrorDetail[] {
  const path = `input.${name}`
  if (value === undefined) return required ? [{ path, message: 'is required' }] : []
  if (!CLIENT_TEXT.test(value))
    return [{ path, message: 'must be plain ASCII on one line, without white space at its ends' }]
  return value.length > LONGEST ? [{ path, message: `must be at most ${LONGEST} characters` }] : []
}

function unusable({ name, display_name }: ProviderDefinition, details: readonly ErrorDetail[]): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot use this as an OAuth app of ${display_name}`, {
    provider: name,
    details,
    hint: details.map(({ path, message }) => `${path.slice('input.'.length)} ${message}`).join('; '),
  })
}

/** A client that signs for itself logs nobody in: then a login in the browser is left to what the server says. */
function methodOf(oauth: ProviderDefinition['oauth']): AuthMethod | undefined {
  return oauth?.token_auth_method === 'private_key_jwt' ? undefined : oauth?.token_auth_method
}

/** As the definition says; else as the server says of itself, whose silence means Basic (RFC 8414, section 2). */
function authMethod(
  { oauth }: ProviderDefinition,
  { clientAuth = ['client_secret_basic'] }: OAuthServer,
  kind: 'public' | 'confidential',
): AuthMethod {
  const named = methodOf(oauth)
  if (named !== undefined) return named
  if (kind === 'public') return 'none'
  const takesBasic = clientAuth.includes('client_secret_basic')
  return !takesBasic && clientAuth.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic'
}
