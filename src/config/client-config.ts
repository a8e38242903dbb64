import { BrokerError, isIdentityHandle } from '../protocol/index.ts'
import { folderOfHome, type HomePaths, privateFolder } from './home.ts'
import { OF_A_COMMAND_MS, readPrivateFile, sweepDrafts, writePrivateFile } from './private-file.ts'

/** `client/config.json`: what the command line remembers between commands. */
export interface ClientConfig {
  readonly daemon_base_url?: string
  readonly active_identity?: string
  /** did:key of the daemon at `pinned_base_url`, trusted since it was first met. */
  readonly daemon_did?: string
  readonly pinned_base_url?: string
  /** What stands around the command of a run; the shield, where it works, if absent. */
  readonly isolation?: (typeof ISOLATION)[number]
}

const ISOLATION = ['none', 'shield', 'sandbox'] as const

/** What is undefined is forgotten. */
type ClientConfigChange = { readonly [Name in keyof ClientConfig]: ClientConfig[Name] | undefined }

const NAMES = ['daemon_base_url', 'active_identity', 'daemon_did', 'pinned_base_url', 'isolation'] as const

/** @throws BrokerError InvalidRequestError naming the file where it is damaged. */
export function readClientConfig(paths: HomePaths): ClientConfig {
  const text = readPrivateFile(paths.clientConfig)
  return text ? parseClientConfig(parseJsonObject(paths.clientConfig, text), paths.clientConfig) : {}
}

function parseClientConfig(json: Readonly<Record<string, unknown>>, path: string): ClientConfig {
  const known = NAMES.flatMap((name) => (json[name] === undefined ? [] : [[name, textOf(json[name], name, path)]]))
  const config: ClientConfig = Object.fromEntries(known)
  if (config.active_identity !== undefined && !isIdentityHandle(config.active_identity)) {
    throw damaged(path, '"active_identity" is not an identity handle')
  }
  if (config.isolation !== undefined && !ISOLATION.includes(config.isolation)) {
    throw damaged(path, `"isolation" is none of ${ISOLATION.join(', ')}`)
  }
  return config
}

function textOf(value: unknown, name: string, path: string): string {
  if (typeof value !== 'string') throw damaged(path, `"${name}" is not text`)
  return value
}

/** Changes the named members and keeps the others; undefined removes one. */
export function writeClientConfig(paths: HomePaths, change: ClientConfigChange): void {
  privateFolder(paths.home)
  sweepDrafts(folderOfHome(paths.client), OF_A_COMMAND_MS)
  const config = { ...readClientConfig(paths), ...change }
  writePrivateFile(paths.clientConfig, `${JSON.stringify(config, null, 2)}\n`)
}

/** @throws BrokerError InvalidRequestError naming the file. */
export function parseJsonObject(path: string, text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(path, text)
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw damaged(path, 'it is not a JSON object')
  return value as Record<string, unknown>
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw damaged(path, 'it is not JSON')
  }
}

function damaged(path: string, why: string): BrokerError {
  return new BrokerError('InvalidRequestError', `The file "${path}" is damaged: ${why}`, {
    hint: 'Mend it or move it away; nothing was changed.',
  })
}
