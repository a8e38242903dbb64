import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { BrokerError, Secret } from '../protocol/index.ts'
import { parseJsonObject } from './client-config.ts'
import type { HomePaths } from './home.ts'
import { OF_A_COMMAND_MS, readPrivateFile, sweepDrafts, writePrivateFile } from './private-file.ts'

/** `server/daemon.json`: the running daemon, for the command line of the same home. */
export interface DaemonInfo {
  readonly pid: number
  readonly port: number
  readonly started_at: string
  readonly version: string
  /** did:key the daemon proves itself by; empty where it cannot open what has it. */
  readonly did: string
}

/** Undefined where no daemon of this home says that it runs. */
export function readDaemonInfo(paths: HomePaths): DaemonInfo | undefined {
  const text = readPrivateFile(paths.daemonInfo)
  if (!text) return undefined
  const { pid, port, started_at, version, did } = parseJsonObject(paths.daemonInfo, text)
  const complete =
    typeof pid === 'number' &&
    typeof port === 'number' &&
    typeof started_at === 'string' &&
    typeof version === 'string' &&
    typeof did === 'string'
  return complete ? { pid, port, started_at, version, did } : undefined
}

/** Returns whether the home's daemon runs without what it proves itself by: its vault does not open. */
export function isSealed(info: DaemonInfo | undefined): boolean {
  return info?.did === ''
}

/** The port that the home's daemon says; undefined where there is none, or none whose word is taken. */
export function saidPort(paths: HomePaths): number | undefined {
  try {
    const port = readDaemonInfo(paths)?.port ?? 0
    return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined
  } catch {
    // Whoever needs more of the file than the port hears what is wrong with it.
    return undefined
  }
}

export function writeDaemonInfo(paths: HomePaths, info: DaemonInfo): void {
  writePrivateFile(paths.daemonInfo, `${JSON.stringify(info, null, 2)}\n`)
}

export function removeDaemonInfo(paths: HomePaths): void {
  try {
    rmSync(paths.daemonInfo, { force: true })
  } catch {
    // Whoever reads it finds that nobody listens: that must not keep a daemon from stopping in order.
  }
}

/** Text that proves "same user of this machine"; undefined where this home has no daemon, or a hosted one. */
export function readBootstrapSecret(paths: HomePaths): Secret | undefined {
  const text = readPrivateFile(paths.bootstrapSecret)?.trim()
  return text ? new Secret(text) : undefined
}

/** The daemon's side: the secret is made once and kept. Nothing depends on it being the same for good. */
export function ensureBootstrapSecret(paths: HomePaths): Secret {
  const secret = readBootstrapSecret(paths)
  if (secret) return secret
  const made = randomBytes(32).toString('base64url')
  writePrivateFile(paths.bootstrapSecret, `${made}\n`)
  return new Secret(made)
}

/**
 * The daemon's own signing key, PKCS#8 PEM, made by `generate` the first time.
 * @param known whether clients may know the daemon by the key it had
 * @throws BrokerError OperationNotAllowedError where the file is empty and clients may know what was in it
 */
export function ensureDaemonKey(paths: HomePaths, generate: () => Secret, known: boolean): Secret {
  const kept = readPrivateFile(paths.daemonKey)
  if (kept) return new Secret(kept)
  if (kept === '' && known) throw emptyKey(paths.daemonKey)
  const made = generate()
  writePrivateFile(paths.daemonKey, made.reveal())
  return made
}

/** The same key where there is one; PKCS#8 PEM. */
export function readDaemonKey(paths: HomePaths): Secret | undefined {
  const kept = readPrivateFile(paths.daemonKey)
  return kept ? new Secret(kept) : undefined
}

function emptyKey(path: string): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot use the file "${path}": it is empty`, {
    hint: 'Clients know this daemon by the key that was in it: put it back from a backup. Without one, remove the file: a new key is made, and each client is told to trust it with `broker onboard --base-url`.',
  })
}

/** Version of the home's layout; `server/config.json` says by which one it was made. */
export const SERVER_SCHEMA_VERSION = 1

/** Returns what `server/config.json` says, made the first time. @throws BrokerError InvalidRequestError where it is damaged. */
export function ensureServerConfig(paths: HomePaths): { readonly schemaVersion: number } {
  const kept = readPrivateFile(paths.serverConfig)
  if (kept) return { schemaVersion: parseServerConfig(paths.serverConfig, kept) }
  writePrivateFile(paths.serverConfig, `${JSON.stringify({ schema_version: SERVER_SCHEMA_VERSION }, null, 2)}\n`)
  return { schemaVersion: SERVER_SCHEMA_VERSION }
}

function parseServerConfig(path: string, text: string): number {
  const { schema_version } = parseJsonObject(path, text)
  if (Number.isSafeInteger(schema_version)) return Number(schema_version)
  throw new BrokerError('InvalidRequestError', `The file "${path}" is damaged: "schema_version" is missing`)
}

/** Removes what a crash has left half written. The caller holds the home's lock, so that no daemon writes now. */
export function sweepHome(paths: HomePaths): void {
  for (const folder of [paths.server, paths.providers]) sweepDrafts(folder)
  for (const folder of [paths.client, paths.identities]) sweepDrafts(folder, OF_A_COMMAND_MS)
}
