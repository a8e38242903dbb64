import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BrokerError, isIdentityHandle, Secret } from '../protocol/index.ts'
import { parseJsonObject } from './client-config.ts'
import { type HomePaths, privateFolder } from './home.ts'
import { codeOf, createPrivateFile, readPrivateFile } from './private-file.ts'

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

export function readIdentity(paths: HomePaths, handle: string): LocalIdentity | undefined {
  const path = join(paths.identities, `${handle}.json`)
  const text = readPrivateFile(path)
  if (text === undefined) return undefined
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

/** Keeps a new identity; false where the handle is taken in this home. */
export function createIdentity(paths: HomePaths, identity: LocalIdentity, key: Secret): boolean {
  privateFolder(paths.home)
  privateFolder(paths.identities)
  if (!createPrivateFile(join(paths.identities, `${identity.handle}.key`), key.reveal())) return false
  return createPrivateFile(join(paths.identities, `${identity.handle}.json`), `${JSON.stringify(identity, null, 2)}\n`)
}

export function removeIdentity(paths: HomePaths, handle: string): void {
  rmSync(join(paths.identities, `${handle}.json`), { force: true })
  rmSync(join(paths.identities, `${handle}.key`), { force: true })
}
