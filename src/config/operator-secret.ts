import { randomBytes } from 'node:crypto'
import { Secret } from '../protocol/index.ts'
import type { HomePaths } from './home.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

/** Text that only who may read the daemon's private files has; undefined where this home has no daemon. */
export function readOperatorSecret(paths: HomePaths): Secret | undefined {
  const text = readPrivateFile(paths.operatorSecret)?.trim()
  return text ? new Secret(text) : undefined
}

/** The daemon's side, hosted or not: the secret is made once and kept. Nothing depends on it being the same for good. */
export function ensureOperatorSecret(paths: HomePaths): Secret {
  const secret = readOperatorSecret(paths)
  if (secret) return secret
  const made = randomBytes(32).toString('base64url')
  writePrivateFile(paths.operatorSecret, `${made}\n`)
  return new Secret(made)
}
