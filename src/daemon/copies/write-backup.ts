import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Encrypter } from 'age-encryption'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import type { StoreState } from '../store/index.ts'
import { type BackupHead, type BackupLine, Counter, printLine } from './backup-lines.ts'
import { readBackup } from './read-backup.ts'

/** For whom a backup is: whoever has the passphrase, or the identity of the age recipient. */
type For = { readonly passphrase: Secret } | { readonly recipient: string }

export interface BackupPlan {
  readonly path: string
  readonly for: For
  readonly head: Omit<BackupHead, 'format' | 'version' | 'schema'>
  /** Base64; absent where it is not to be in the file. */
  readonly masterKey?: Secret
  /** Small files of the home that belong to the deployment, by their paths in it. */
  readonly files: ReadonlyMap<string, Secret>
}

export interface BackupSummary {
  readonly bytes: number
  readonly connections: number
  readonly events: number
  readonly generation: number
}

/**
 * Writes one state of a store into a file, encrypted, and reads it back: by its content where the passphrase is at hand, else
 * by its bytes. The file takes its name when it is whole; one of before stays until then.
 * @throws BrokerError DaemonUnavailableError where there is no room, InvalidRequestError for a recipient that is none
 */
export async function writeBackup(state: StoreState, plan: BackupPlan): Promise<BackupSummary> {
  const draft = `${plan.path}.partial`
  const counter = new Counter()
  try {
    const written = await encrypted(linesOf(state, plan, counter), draft, plan.for)
    await verified(draft, plan.for, written, counter)
    renameSync(draft, plan.path)
    sync(dirname(plan.path))
    const { connections, events, generation } = counter.counts
    return { bytes: statSync(plan.path).size, connections, events, generation }
  } catch (cause) {
    rmSync(draft, { force: true })
    throw notWritten(cause)
  }
}

async function* linesOf(state: StoreState, plan: BackupPlan, counter: Counter): AsyncGenerator<string> {
  const print = (line: BackupLine) => printLine(line)
  const { schema } = state
  yield print({ head: { format: 'broker-backup', version: 1, schema, ...plan.head } })
  if (plan.masterKey) yield print({ key: plan.masterKey.reveal() })
  for (const [file, text] of plan.files) yield print({ file, text: text.reveal() })
  for await (const { table, rows } of state.rows()) {
    counter.add(table, rows)
    yield print({ table, rows })
  }
  yield print({ end: counter.counts })
}

/** @returns the hash of what was written */
async function encrypted(lines: AsyncIterable<string>, path: string, whom: For): Promise<string> {
  const encrypter = encrypterFor(whom)
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
  const hash = createHash('sha256')
  const hashed = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const plain = createGzip({ level: 1 })
  const fed = pipeline(Readable.from(lines), plain)
  const sealed = await encrypter.encrypt(Readable.toWeb(plain) as ReadableStream<Uint8Array>)
  const out = createWriteStream('', { fd: file, autoClose: false })
  try {
    await Promise.all([fed, pipeline(Readable.fromWeb(sealed as never), hashed, out)])
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}

function encrypterFor(whom: For): Encrypter {
  const encrypter = new Encrypter()
  try {
    if ('passphrase' in whom) encrypter.setPassphrase(whom.passphrase.reveal())
    else encrypter.addRecipient(whom.recipient)
    return encrypter
  } catch (cause) {
    throw new BrokerError('InvalidRequestError', 'The recipient is none of age: it begins with "age1"', { cause })
  }
}

/** @throws BrokerError where the disk gives back something else than it was given */
async function verified(path: string, whom: For, written: string, counter: Counter): Promise<void> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  const isSame = hash.digest('hex') === written
  if (isSame && !('passphrase' in whom)) return
  const found = isSame && 'passphrase' in whom ? await readBackup(path, whom, async () => undefined) : undefined
  if (JSON.stringify(found?.counts) === JSON.stringify(counter.counts)) return
  throw new BrokerError('DaemonUnavailableError', 'The disk does not give back what was written; there is no backup')
}

function sync(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function notWritten(cause: unknown): unknown {
  if (cause instanceof BrokerError) return cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  if (code === undefined) return cause
  const why = code === 'ENOSPC' ? 'the disk is full' : `the system says ${code}`
  return new BrokerError('DaemonUnavailableError', `The backup was not made: ${why}`, { cause })
}
