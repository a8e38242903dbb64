import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Decrypter } from 'age-encryption'
import { BrokerError, Secret } from '../../protocol/index.ts'
import type { AnyRow, TableName } from '../store/index.ts'
import { type BackupCounts, type BackupHead, type BackupLine, Counter, notOurs, parseLine } from './backup-lines.ts'

/** What opens a backup: its passphrase, or an age identity. */
export type Unlocked = { readonly passphrase: Secret } | { readonly identity: Secret }

/** What is in a backup, but for its rows. */
export interface BackupContent {
  readonly head: BackupHead
  /** Base64. */
  readonly masterKey?: Secret
  readonly files: ReadonlyMap<string, Secret>
  readonly counts: BackupCounts
}

/** Gets rows as they come; the head has come before. */
export type TakeRows = (head: BackupHead, table: TableName, rows: readonly AnyRow[]) => Promise<void>

/**
 * Reads a whole backup, and holds it against its own counts.
 * @throws BrokerError InvalidRequestError where it does not open, was changed, or ends too early
 */
export async function readBackup(path: string, by: Unlocked, take: TakeRows): Promise<BackupContent> {
  const reader = new BackupReader(take)
  try {
    for await (const line of linesOf(path, by)) await reader.read(parseLine(line))
  } catch (cause) {
    throw cause instanceof BrokerError ? cause : notReadable(cause)
  }
  return reader.content
}

async function* linesOf(path: string, by: Unlocked): AsyncGenerator<string> {
  const decrypter = new Decrypter()
  if ('passphrase' in by) decrypter.addPassphrase(by.passphrase.reveal())
  else decrypter.addIdentity(by.identity.reveal().trim())
  const plain = await decrypter.decrypt(Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>)
  const unpacked = createGunzip()
  const opened = Readable.fromWeb(plain as never)
  opened.once('error', (error) => unpacked.destroy(error))
  yield* createInterface({ input: opened.pipe(unpacked), crlfDelay: Number.POSITIVE_INFINITY })
  // The lines of a stream that failed just end.
  if (unpacked.errored) throw unpacked.errored
}

class BackupReader {
  readonly #take: TakeRows
  readonly #counter = new Counter()
  readonly #files = new Map<string, Secret>()
  #head: BackupHead | undefined
  #key: Secret | undefined
  #end: BackupCounts | undefined

  constructor(take: TakeRows) {
    this.#take = take
  }

  async read(line: BackupLine): Promise<void> {
    if ('head' in line) {
      if (line.head.format !== 'broker-backup' || line.head.version !== 1) throw notOurs()
      this.#head = line.head
      return
    }
    if (this.#head === undefined || this.#end !== undefined) throw notOurs()
    if ('key' in line) this.#key = new Secret(line.key)
    else if ('file' in line) this.#files.set(line.file, new Secret(line.text))
    else if ('table' in line) {
      this.#counter.add(line.table, line.rows)
      await this.#take(this.#head, line.table, line.rows)
    } else this.#end = line.end
  }

  get content(): BackupContent {
    const { counts } = this.#counter
    if (this.#head === undefined || JSON.stringify(this.#end) !== JSON.stringify(counts)) throw notOurs()
    return { head: this.#head, files: this.#files, counts, ...(this.#key && { masterKey: this.#key }) }
  }
}

function notReadable(cause: unknown): BrokerError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ENOENT') return new BrokerError('NotFoundError', 'There is no such file')
  return new BrokerError(
    'InvalidRequestError',
    'The backup does not open: another passphrase or identity, or it was changed',
    {
      cause,
    },
  )
}
