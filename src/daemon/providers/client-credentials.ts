import type { Secret } from '../../protocol/index.ts'
import type { Field, ProviderDefinition } from '../../schemas/index.ts'
import { parseClientKey } from '../signing/index.ts'

type Credential = Readonly<Record<string, Secret>>

/** Returns whether a login may give the id and secret of a client, for which tokens are granted (RFC 6749 section 4.4). */
export function grantsToClients({ oauth }: Pick<ProviderDefinition, 'oauth'>): boolean {
  return oauth?.grant === 'client_credentials'
}

/** Returns whether the section `api_key` is about a key that is sent, and does not just say what is asked about a client. */
export function hasKey(definition: ProviderDefinition): boolean {
  const { api_key: apiKey, auth_type, flow } = definition
  if (apiKey === undefined) return false
  if (!grantsToClients(definition)) return true
  if (apiKey.fields !== undefined) return apiKey.fields.some(({ name }) => name === 'api_key')
  return !(auth_type === 'oauth2' && flow === 'api_key')
}

/** Returns what a login asks about the client. */
export function clientFields(definition: ProviderDefinition): readonly Field[] {
  const { api_key: apiKey, display_name: name } = definition
  if (apiKey?.fields !== undefined && !hasKey(definition)) return apiKey.fields.map(asFile)
  const labelled = (what: string) => `${name} ${what}`.slice(0, 80)
  const id: Field = { name: 'client_id', label: labelled('client ID'), secret: false, required: true }
  if (!signsForItself(definition))
    return [id, { name: 'client_secret', label: labelled('client secret'), secret: true, required: true }]
  return [
    id,
    { name: 'private_key', label: labelled('private key (PEM)'), secret: true, required: true, multiline: true },
    { name: 'kid', label: labelled('key ID'), secret: false, required: false },
  ]
}

/** A key is longer than a line. */
function asFile(field: Field): Field {
  return field.name === 'private_key' ? { ...field, multiline: true } : field
}

/** Returns how the client shows itself; with nothing said, or nothing for people, as RFC 6749 section 2.3.1 has it. */
export function clientAuthMethod({ oauth }: ProviderDefinition) {
  const method = oauth?.client_auth_method ?? oauth?.token_auth_method
  return method === undefined || method === 'none' ? 'client_secret_basic' : method
}

function signsForItself(definition: ProviderDefinition): boolean {
  return clientAuthMethod(definition) === 'private_key_jwt'
}

/** The field that holds what the client proves itself with. */
export function secretField(definition: ProviderDefinition): 'private_key' | 'client_secret' {
  return signsForItself(definition) ? 'private_key' : 'client_secret'
}

/** Returns whether the values are those of a client: an API key has other required fields. */
export function isClientCredential(definition: ProviderDefinition, credential: Credential): boolean {
  return grantsToClients(definition) && 'client_id' in credential && secretField(definition) in credential
}

const LONGEST = 2_000

/** Returns what is wrong with a value of a client, as goes on after the name of its field. */
export function problemOfClientValue(
  definition: ProviderDefinition,
  { name }: Field,
  value: string,
): string | undefined {
  if (name === 'private_key') {
    return parseClientKey(value)
      ? undefined
      : 'must be a private key as PEM, without a passphrase: RSA of 2048 bits or more, or P-256'
  }
  // RFC 6749, appendix A.1 and A.2, without white space at the ends.
  if (!/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return 'must be plain ASCII on one line, without white space at its ends'
  if (value.length > LONGEST) return `must be at most ${LONGEST} characters`
  return isSegment(definition, name) && (!/^[A-Za-z0-9._~-]+$/.test(value) || /^\.\.?$/.test(value))
    ? 'must be letters, digits and what may stand in a segment of a path'
    : undefined
}

function isSegment({ oauth }: ProviderDefinition, field: string): boolean {
  return openNames(oauth?.client_token_url ?? oauth?.token_url ?? '').includes(field)
}

/** Returns what the grant asks for unless a login says otherwise. */
export function clientScopes({ oauth }: ProviderDefinition): readonly string[] {
  return oauth?.client_scopes ?? oauth?.scopes ?? []
}

/** What stands for a value in an endpoint or a parameter. */
export const OPEN = /\{([a-z][a-z0-9_]*)\}/g

export function openNames(template: string): readonly string[] {
  return [...template.matchAll(OPEN)].map(([, name = '']) => name)
}
