import { copyFileSync, existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, folderOfHome, privateFolder, writePrivateFile } from '../config/index.ts'
import { BrokerError, type Secret } from '../protocol/index.ts'
import { openAudit } from './audit/index.ts'
import { type BackupContent, readBackup, type Unlocked } from './copies/index.ts'
import { homeLock, masterKeySettings, storeLocation } from './settings.ts'
import { makeStore, openStore, readStore, type StoreLocation, settleSqlite } from './store/index.ts'
import { type SqliteLocation, takeNewStore } from './take-new-store.ts'
import { settleKeyFor } from './vault/index.ts'

export interface RestoreOrder {
  readonly file: string
  readonly by: Unlocked
  /** Asked once it is known what is taken back; nothing is changed where it says no. */
  readonly isWanted: (change: RestoreChange) => Promise<boolean>
  /** Of Broker. */
  readonly version: string
}

interface Size {
  readonly connections: number
  readonly events: number
  readonly generation: number
}

/** What a restore does to a store. */
interface RestoreChange {
  /** When the backup was made, ISO-8601. */
  readonly made_at: string
  readonly backup: Size
  /** What is there now; absent where there is nothing. */
  readonly now?: Size
}

/**
 * Puts the content of a backup in the place of the home's store, whole; on Postgres, into an empty database. The store of
 * before is kept among the copies.
 * @throws BrokerError DaemonUnavailableError while a daemon runs, InputCancelledError where it is not wanted, and as
 *   {@link readBackup}; the store of before is there then
 */
export async function restoreHome(config: Config, order: RestoreOrder): Promise<Size> {
  const { paths } = config
  privateFolder(paths.home)
  folderOfHome(paths.server)
  const lock = homeLock(config)
  try {
    const location = storeLocation(config)
    const content = await readBackup(order.file, order.by, async () => undefined)
    const { connections, events, generation } = content.counts
    const backup = { connections, events, generation }
    const now = await sizeOf(location)
    const isWanted = await order.isWanted({ made_at: content.head.made_at, backup, ...(now && { now }) })
    if (!isWanted) throw new BrokerError('InputCancelledError', 'Nothing was restored')
    if (location.kind === 'sqlite') await intoHome(config, location, { content, order })
    else await intoPostgres(config, location, { content, order })
    return backup
  } finally {
    lock.release()
  }
}

interface Work {
  readonly content: BackupContent
  readonly order: RestoreOrder
}

async function sizeOf(location: StoreLocation): Promise<Size | undefined> {
  try {
    return await readStore(location, (state) => state.size())
  } catch (error) {
    // One that is damaged is what restores are for.
    if (error instanceof BrokerError) return undefined
    throw error
  }
}

/** Everything is made beside what is there; one rename puts it in its place. */
async function intoHome(config: Config, location: SqliteLocation, { content, order }: Work): Promise<void> {
  const { paths } = config
  const settleKey = await takeNewStore(
    location,
    async (draft) => {
      const settle = await fill(draft, config, { content, order })
      await tell(draft, { content, order })
      return settle
    },
    () => keepFormer(location.path),
  )
  settleKey()
  // The store is older than the last one that was seen here, and is meant to be.
  rmSync(paths.vaultAnchor, { force: true })
  writeFiles(paths.home, content.files)
}

async function intoPostgres(config: Config, location: StoreLocation, { content, order }: Work): Promise<void> {
  const settleKey = await fill(location, config, { content, order })
  settleKey()
  await tell(location, { content, order })
  // Of a home with a store of its own: the first daemon takes them in.
  writeFiles(config.paths.home, content.files)
}

/** @returns what gives the master key its place, where that came with the backup */
function fill(location: StoreLocation, config: Config, { content, order }: Work): Promise<() => void> {
  const about = { schema: content.head.schema, version: order.version }
  return makeStore(location, about, async ({ db, write }) => {
    await readBackup(order.file, order.by, (_, table, rows) => write(table, rows))
    return settleKeyFor(db, masterKeySettings(config), content.masterKey)
  })
}

async function tell(location: StoreLocation, { content, order }: Work): Promise<void> {
  const store = await openStore(location, { version: order.version })
  try {
    const actor = { identity: '(operator)', principalId: '(nobody)' }
    const reason = `from a backup of ${content.head.made_at}`
    await openAudit(store).recordAll(
      [{ actor, event: { event: 'backup.restored', status: 'success', reason } }],
      'flushed',
    )
  } finally {
    await store.close()
  }
}

/** The store of before stays under its name until the next one takes it. */
function keepFormer(path: string): void {
  if (!existsSync(path)) return
  settleSqlite(path)
  const folder = join(dirname(path), 'copies')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const kept = join(folder, `before_restore-${time}.db`)
  try {
    linkSync(path, kept)
  } catch {
    // A file system without hard links.
    copyFileSync(path, kept)
  }
}

/** Definitions and the daemon's own key: who knows the daemon goes on knowing it. */
function writeFiles(home: string, files: ReadonlyMap<string, Secret>): void {
  for (const [name, text] of files) {
    if (!FILES.test(name))
      throw new BrokerError('InvalidRequestError', 'The backup holds a file that is none of a home')
    const path = join(home, name)
    folderOfHome(dirname(path))
    writePrivateFile(path, text.reveal())
  }
}

/** What a backup may write: nothing that leads out of the home. */
const FILES = /^(?:server\/(?:daemon\.key|catalogue\.json)|providers\/[a-z0-9][a-z0-9._-]{0,63}\.json)$/
