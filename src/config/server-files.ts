import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { BrokerError, Secret } from '../protocol/index.ts'
import { parseJsonObject } from './client-config.ts'
import type { HomePaths } from './home.ts'
import { createPrivateFile, readPrivateFile, writePrivateFile } from './private-file.ts'

/** `server/daemon.json`: the running daemon, for the command line of the same home. */
export interface DaemonInfo {
  readonly pid: number
  readonly port: number
  readonly started_at: string
  readonly version: string
  /** did:key the daemon proves itself by. */
  readonly did: string
}

/** Undefined where no daemon of this home says that it runs. */
export function readDaemonInfo(paths: HomePaths): DaemonInfo | undefined {
  const text = readPrivateFile(paths.daemonInfo)
  if (text === undefined) return undefined
  const { pid, port, started_at, version, did } = parseJsonObject(paths.daemonInfo, text)
  const complete =
    typeof pid === 'number' &&
    typeof port === 'number' &&
    typeof started_at === 'string' &&
    typeof version === 'string' &&
    typeof did === 'string'
  return complete ? { pid, port, started_at, version, did } : undefined
}

export function writeDaemonInfo(paths: HomePaths, info: DaemonInfo): void {
  writePrivateFile(paths.daemonInfo, `${JSON.stringify(info, null, 2)}\n`)
}

export function removeDaemonInfo(paths: HomePaths): void {
  rmSync(paths.daemonInfo, { force: true })
}

/** Text that proves "same user of this machine"; undefined where this home has no daemon, or a hosted one. */
export function readBootstrapSecret(paths: HomePaths): Secret | undefined {
  const text = readPrivateFile(paths.bootstrapSecret)?.trim()
  return text ? new Secret(text) : undefined
}

/** The daemon's side: the secret is made once and kept. */
export function ensureBootstrapSecret(paths: HomePaths): Secret {
  createPrivateFile(paths.bootstrapSecret, `${randomBytes(32).toString('base64url')}\n`)
  const secret = readBootstrapSecret(paths)
  if (!secret) throw new BrokerError('InvalidRequestError', `The file "${paths.bootstrapSecret}" is empty: remove it`)
  return secret
}

/** The daemon's own signing key, PKCS#8 PEM, made by `generate` the first time. */
export function ensureDaemonKey(paths: HomePaths, generate: () => Secret): Secret {
  const kept = readPrivateFile(paths.daemonKey)
  if (kept !== undefined) return new Secret(kept)
  const made = generate()
  createPrivateFile(paths.daemonKey, made.reveal())
  return made
}

/** Version of the home's layout; `server/config.json` says by which one it was made. */
export const SERVER_SCHEMA_VERSION = 1

/** What `server/config.json` says, made the first time. @throws BrokerError InvalidRequestError where it is damaged. */
export function ensureServerConfig(paths: HomePaths): { readonly schemaVersion: number } {
  createPrivateFile(paths.serverConfig, `${JSON.stringify({ schema_version: SERVER_SCHEMA_VERSION }, null, 2)}\n`)
  const { schema_version } = parseJsonObject(paths.serverConfig, readPrivateFile(paths.serverConfig) ?? '')
  if (!Number.isSafeInteger(schema_version)) {
    throw new BrokerError(
      'InvalidRequestError',
      `The file "${paths.serverConfig}" is damaged: "schema_version" is missing`,
    )
  }
  return { schemaVersion: Number(schema_version) }
}
