import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { readDaemonInfo } from '../../config/index.ts'
import { BrokerError, Secret } from '../../protocol/index.ts'
import { askSecret, askTwice } from '../ask-twice.ts'
import { type CopyRequest, runCopy } from '../copy-process.ts'
import type { Invocation } from '../invocation.ts'
import { startDaemon, stopDaemon } from '../own-daemon.ts'
import { readPipedSecret } from '../piped-secret.ts'
import type { Terminal } from '../terminal.ts'

export interface BackupOptions {
  readonly toPassphrase?: boolean
  readonly recipient?: string
  /** False with `--without-key`. */
  readonly withoutKey?: boolean
}

interface Copied {
  readonly connections: number
  readonly events: number
  readonly generation: number
}

const PIPE_IT = 'Type it at a terminal, or pipe it in, on one line.'

/** Writes everything of this home's store into one encrypted file, while the daemon runs or not. */
export async function backup(invocation: Invocation, path: string, options: BackupOptions): Promise<void> {
  const { config, output, terminal } = invocation
  const file = resolve(path)
  const request: CopyRequest = {
    do: 'backup',
    file,
    withKey: options.withoutKey !== true,
    ...(await whomFor(terminal, options)),
  }
  const spinner = terminal.spin('Copying')
  const made = await runCopy<Copied & { readonly bytes: number }>(config, request).finally(() => spinner.stop())
  const { bytes, connections, events, generation } = made
  output.result({ status: 'ok', file, bytes, connections, events, generation }, () => {
    output.done(`${path}: ${connections} connections and ${events} events, ${bytes} bytes`)
    if (options.withoutKey) output.note('The master key is not in it: keep that, too, and in another place.')
  })
}

async function whomFor(
  terminal: Terminal,
  { toPassphrase, recipient }: BackupOptions,
): Promise<Pick<CopyRequest, 'secrets'> & { readonly recipient?: string }> {
  if (toPassphrase && recipient !== undefined) throw forWhom('both were named')
  if (recipient !== undefined) return { secrets: {}, recipient }
  if (!toPassphrase) throw forWhom('neither was named')
  const passphrase = terminal.canAsk
    ? await askTwice(terminal, 'A passphrase for this backup')
    : await readPipedSecret(terminal.input, 'line', PIPE_IT)
  return { secrets: { passphrase } }
}

function forWhom(why: string): BrokerError {
  return new BrokerError('InvalidRequestError', `A backup is encrypted to a passphrase or to a recipient: ${why}`, {
    hint: 'broker backup <file> --to-passphrase, or --recipient age1…',
  })
}

export interface RestoreOptions {
  readonly yes?: boolean
  readonly identity?: string
}

interface Change {
  readonly made_at: string
  readonly backup: Copied
  readonly now?: Copied
}

/** Puts a backup in the place of this home's store. A daemon that runs is stopped for it, and started again. */
export async function restore(invocation: Invocation, path: string, options: RestoreOptions): Promise<void> {
  const { config, log, output, terminal } = invocation
  const file = resolve(path)
  const secrets = await opening(terminal, options)
  const wasRunning = readDaemonInfo(config.paths) !== undefined && (await stopDaemon(config, log)) !== undefined
  try {
    const restored = await runCopy<Copied>(config, { do: 'restore', file, secrets }, (change) =>
      isWanted(invocation, change as Change, options),
    )
    const { connections, events, generation } = restored
    const { size: bytes } = statSync(file)
    output.result({ status: 'ok', file, bytes, connections, events, generation }, () => {
      output.done(`${connections} connections and ${events} events are back`)
    })
  } finally {
    if (wasRunning) await startDaemon(config, log)
  }
}

async function opening(terminal: Terminal, { identity }: RestoreOptions): Promise<CopyRequest['secrets']> {
  if (identity !== undefined) return { identity: identityIn(identity) }
  const passphrase = terminal.canAsk
    ? await askSecret(terminal, 'Passphrase of the backup')
    : await readPipedSecret(terminal.input, 'line', PIPE_IT)
  return { passphrase }
}

/** A file of `age-keygen`: comments, and one line that is the identity. */
function identityIn(path: string): Secret {
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .find((one) => one.startsWith('AGE-SECRET-KEY-'))
  if (line === undefined) throw new BrokerError('InvalidRequestError', `There is no age identity in "${path}"`)
  return new Secret(line.trim())
}

async function isWanted({ output, terminal }: Invocation, change: Change, { yes }: RestoreOptions): Promise<boolean> {
  const { made_at, backup, now } = change
  output.note(`The backup is of ${made_at}: ${sizes(backup)}.`)
  if (now === undefined) return true
  output.note(`The store of now: ${sizes(now)}. It is kept in server/copies.`)
  if (now.generation > backup.generation)
    output.warn(`${now.generation - backup.generation} changes since the backup are taken back.`)
  if (yes) return true
  if (terminal.canAsk) return terminal.confirm('Put the backup in its place?')
  throw new BrokerError('InputCancelledError', 'Nothing was restored: there is a store, and nobody to ask', {
    hint: 'Say --yes.',
  })
}

function sizes({ connections, events, generation }: Copied): string {
  return `${connections} connections, ${events} events, generation ${generation}`
}
