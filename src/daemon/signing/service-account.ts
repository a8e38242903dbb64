import type { KeyObject } from 'node:crypto'
import { parseStrictJson } from '../../protocol/index.ts'
import { parsePrivateKey } from './private-key.ts'

/** What is used of the key file that Google makes for a service account. The endpoints it names are not. */
export interface ServiceAccount {
  readonly email: string
  readonly keyId?: string
  readonly key: KeyObject
}

/** The account in a key file, or what is wrong with it, as goes on after "must". Nothing of it is repeated. */
export function parseServiceAccount(text: string): ServiceAccount | { readonly problem: string } {
  const file = parseObject(text)
  if (!file) return { problem: 'be the JSON key file of a service account' }
  const { type, client_email: email, private_key_id: keyId, private_key: pem } = file
  if (type !== 'service_account') return { problem: 'be a key file whose type is "service_account"' }
  if (typeof email !== 'string' || !/^[!-~]{3,254}$/.test(email)) return { problem: 'hold a client_email' }
  const key = typeof pem === 'string' ? parsePrivateKey(pem) : undefined
  if (!key) return { problem: 'hold a private_key: an RSA key as PEM' }
  return { email, key, ...(typeof keyId === 'string' && /^[!-~]{1,128}$/.test(keyId) && { keyId }) }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseStrictJson(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined
  }
}
