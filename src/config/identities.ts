import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type SigningKey, signingKeyFromPem } from '../identity/index.ts'
import { BrokerError, isIdentityHandle, Secret } from '../protocol/index.ts'
import { parseJsonObject } from './client-config.ts'
import { type HomePaths, privateFolder } from './home.ts'
import {
  codeOf,
  createPrivateFile,
  OF_A_COMMAND_MS,
  readPrivateFile,
  removePrivateFile,
  sweepDrafts,
} from './private-file.ts'

/** A local agent: `identities/<handle>.json` and, beside it, its private key. */
export interface LocalIdentity {
  readonly handle: string
  readonly did: string
  readonly created_at: string
}

/** Handles of the home, sorted. */
export function listIdentities(paths: HomePaths): readonly string[] {
  return filesOf(paths.identities)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .filter(isIdentityHandle)
    .sort()
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return []
    throw cause
  }
}

/** Undefined where there is none, or nothing in its file. @throws BrokerError InvalidRequestError where it is damaged. */
export function readIdentity(paths: HomePaths, handle: string): LocalIdentity | undefined {
  const path = join(paths.identities, `${handle}.json`)
  const text = readPrivateFile(path)
  if (!text) return undefined
  const { handle: name, did, created_at } = parseJsonObject(path, text)
  if (name !== handle || typeof did !== 'string' || typeof created_at !== 'string') {
    throw new BrokerError(
      'InvalidRequestError',
      `The file "${path}" is damaged: handle, did and created_at must be there`,
    )
  }
  return { handle, did, created_at }
}

/** PKCS#8 PEM of the identity's private key, undefined where the file is missing. */
export function readIdentityKey(paths: HomePaths, handle: string): Secret | undefined {
  const pem = readPrivateFile(join(paths.identities, `${handle}.key`))
  return pem === undefined ? undefined : new Secret(pem)
}

/**
 * Makes an identity and gives it; undefined where the handle is taken in this home. A key without its identity is of one
 * whose making was cut off, or of another command that makes it now: it is the identity's key then, for whoever comes first.
 */
export function createIdentity(paths: HomePaths, handle: string, makeKey: () => SigningKey): LocalIdentity | undefined {
  privateFolder(paths.home)
  sweepDrafts(privateFolder(paths.identities), OF_A_COMMAND_MS)
  if (readIdentity(paths, handle)) return undefined
  const key = join(paths.identities, `${handle}.key`)
  if (!readPrivateFile(key)) createPrivateFile(key, makeKey().toPem().reveal())
  const pem = readIdentityKey(paths, handle) ?? new Secret('')
  const { did } = signingKeyFromPem(pem, `identities/${handle}.key`)
  const identity = { handle, did, created_at: new Date().toISOString() }
  const isMine = createPrivateFile(join(paths.identities, `${handle}.json`), `${JSON.stringify(identity, null, 2)}\n`)
  return isMine ? identity : undefined
}

/** The key goes first: what is left when this is cut off can sign nothing, and is no key for a later identity. */
export function removeIdentity(paths: HomePaths, handle: string): void {
  removePrivateFile(join(paths.identities, `${handle}.key`))
  removePrivateFile(join(paths.identities, `${handle}.json`))
}
