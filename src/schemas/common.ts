import * as z from 'zod'
import {
  CONNECTION_NAME_PATTERN,
  IDENTITY_HANDLE_PATTERN,
  isConnectionName,
  isIdentityHandle,
  isProviderName,
  PROVIDER_NAME_PATTERN,
} from '../protocol/index.ts'

export const providerName = z
  .string()
  .regex(
    PROVIDER_NAME_PATTERN,
    'must be lower-case letters, digits, ".", "_" or "-", at most 64, starting with a letter or digit',
  )
  .refine(isProviderName, 'is a reserved name')
  .meta({ example: 'openai' })

export const connectionName = z
  .string()
  .regex(
    CONNECTION_NAME_PATTERN,
    'must be letters, digits, ".", "_", "-", "@" or "+", at most 64, starting with a letter or digit',
  )
  .refine(isConnectionName, 'is a reserved name')
  .meta({ example: 'default' })

export const identityHandle = z
  .string()
  .regex(IDENTITY_HANDLE_PATTERN, 'must be lower-case letters, digits and inner "-", at most 64')
  .refine(isIdentityHandle, 'is a reserved name')
  .meta({ example: 'ada-laptop' })

/** ISO-8601 UTC with milliseconds and `Z`. */
export const timestamp = z.iso.datetime({ precision: 3 }).meta({ example: '2026-11-21T09:30:00.000Z' })

export const did = z
  .string()
  .regex(/^did:key:z[1-9A-HJ-NP-Za-km-z]{40,60}$/, 'must be a did:key of an Ed25519 key')
  .meta({ example: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' })

/** A public host name, in lower case, or an IP literal (IPv6 without brackets). */
export const hostName = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[A-Za-z0-9._:-]+$/, 'must be a host name or IP address')
  .meta({ example: 'api.openai.com' })

export const port = z.int().min(1).max(65535)

/** Returns what a terminal or a page shows: one line, no control characters, nothing that reorders text. */
export function shownText(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'must be one line without control characters')
}
