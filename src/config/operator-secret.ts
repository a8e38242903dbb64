import { randomBytes } from 'node:crypto'
import { BrokerError, Secret } from '../protocol/index.ts'
import type { HomePaths } from './home.ts'
import { createPrivateFile, readPrivateFile } from './private-file.ts'

/** Text that only who may read the daemon's private files has; undefined where this home has no daemon. */
export function readOperatorSecret(paths: HomePaths): Secret | undefined {
  const text = readPrivateFile(paths.operatorSecret)?.trim()
  return text ? new Secret(text) : undefined
}

/** The daemon's side, hosted or not: the secret is made once and kept. */
export function ensureOperatorSecret(paths: HomePaths): Secret {
  createPrivateFile(paths.operatorSecret, `${randomBytes(32).toString('base64url')}\n`)
  const secret = readOperatorSecret(paths)
  if (!secret) throw new BrokerError('InvalidRequestError', `The file "${paths.operatorSecret}" is empty: remove it`)
  return secret
}
