import { type ErrorDetail, type Secret, SIGNING_FIELDS } from '../../protocol/index.ts'
import type { Field, ProviderDefinition } from '../../schemas/index.ts'
import { parsePrivateKey, parseServiceAccount, type ServiceAccount } from '../signing/index.ts'

export type Signing = NonNullable<ProviderDefinition['signing']>
type Credential = Readonly<Record<string, Secret>>

/** Returns what a login with the `signing` section asks for. */
export function signingFields({ type }: Signing): readonly Field[] {
  return SIGNING_FIELDS[type].map((field) => ({ ...field }))
}

/** Returns whether the values are those of a key that signs: no other kind has its required fields. */
export function isSigningCredential({ signing }: ProviderDefinition, credential: Credential): boolean {
  return signing !== undefined && signingFields(signing).every(({ name, required }) => !required || name in credential)
}

/** Returns what is wrong with a value of the `signing` section, as goes on after the name of its field. */
export function problemOfSigningValue(field: Field, value: string): string | undefined {
  if (field.multiline === true) return problemOfKeyFile(field.name, value)
  if (/^[!-~]{1,8192}$/.test(value)) return undefined
  return 'must be one line of ASCII without white space'
}

function problemOfKeyFile(name: string, value: string): string | undefined {
  if (name === 'private_key') {
    return parsePrivateKey(value) ? undefined : 'must be an RSA key of 2048 bits or more as PEM, without a passphrase'
  }
  const parsed = parseServiceAccount(value)
  return 'problem' in parsed ? `must ${parsed.problem}` : undefined
}

/** The account of a stored key file. It was checked when it was stored. */
export function serviceAccountOf(credential: Credential): ServiceAccount | undefined {
  const parsed = parseServiceAccount(credential['service_account']?.reveal() ?? '')
  return 'problem' in parsed ? undefined : parsed
}

/** Returns how a definition with this section says whom it asks for tokens, with what is open in it filled in. */
export function tokenUrlOf(signing: Exclude<Signing, { type: 'aws_sigv4' }>, credential: Credential): string {
  return signing.token_url.replace('{installation_id}', credential['installation_id']?.reveal() ?? '')
}

/** Returns whether a stolen request is all that the owner of a host could get: nothing reusable is sent there. */
export function sendsOnlySignatures({ signing, api_key, oauth }: ProviderDefinition): boolean {
  return signing?.type === 'aws_sigv4' && api_key === undefined && oauth === undefined
}

/** Rules of the `signing` section. */
export function signingProblems(definition: ProviderDefinition): readonly ErrorDetail[] {
  const { signing, headers, injections, api_key: apiKey } = definition
  if (signing === undefined) return []
  if (signing.type === 'aws_sigv4') {
    const taken = [headers && 'headers', apiKey === undefined && injections && 'injections'].filter(Boolean)
    return taken.map((path) => ({ path: String(path), message: 'has no place in a request that is signed' }))
  }
  const isOpen = signing.token_url.includes('{')
  if (signing.type === 'github_app' && !INSTALLATION_SEGMENT.test(signing.token_url)) {
    return [{ path: 'signing.token_url', message: 'must have "{installation_id}" for one segment of its path' }]
  }
  return signing.type === 'google_service_account' && isOpen
    ? [{ path: 'signing.token_url', message: 'must be one URL for everyone' }]
    : []
}

const INSTALLATION_SEGMENT = /^https?:\/\/[^/{}?]+(?:\/[^/{}?]+)*\/\{installation_id\}(?:\/[^/{}?]+)*$/
