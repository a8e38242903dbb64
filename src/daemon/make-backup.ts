import { type Config, readPrivateFile } from '../config/index.ts'
import { Secret } from '../protocol/index.ts'
import { openAudit } from './audit/index.ts'
import { type BackupPlan, type BackupSummary, writeBackup } from './copies/index.ts'
import { definitionFolder } from './providers/index.ts'
import { masterKeySettings, storeLocation } from './settings.ts'
import { migrationsFor, openStore, readStore, type StoreLocation, type StoreState } from './store/index.ts'
import { masterKeyOf } from './vault/index.ts'

export interface BackupOrder {
  readonly file: string
  readonly for: BackupPlan['for']
  readonly withKey: boolean
  /** Of Broker. */
  readonly version: string
}

/** Two catalogue files, as large as they may be. */
const CATALOGUE_BYTES = 20 * 1024 * 1024

/** Writes a backup of the home's store, or of the Postgres that the settings name, and says so in the log. */
export async function makeBackup(config: Config, order: BackupOrder): Promise<BackupSummary> {
  const location = storeLocation(config)
  const { schema, ...summary } = await copyTo(config, order)
  // To open a store of before would bring it up to date: that is for the daemon to do.
  if (schema === migrationsFor(location.kind).at(-1)?.name) await tell(location, order.version, summary)
  return summary
}

/** The same, and says nothing. */
export function copyTo(config: Config, order: BackupOrder): Promise<BackupSummary & Pick<StoreState, 'schema'>> {
  return readStore(storeLocation(config), async (state) => ({
    ...(await writeBackup(state, await planFor(config, state, order))),
    schema: state.schema,
  }))
}

async function planFor(config: Config, { db, dialect }: StoreState, order: BackupOrder): Promise<BackupPlan> {
  const masterKey = order.withKey ? await masterKeyOf(db, masterKeySettings(config)) : undefined
  const isInside = order.withKey && masterKey === undefined
  return {
    path: order.file,
    for: order.for,
    head: {
      made_at: new Date().toISOString(),
      broker: order.version,
      key: masterKey ? 'included' : isInside ? 'in store' : 'apart',
    },
    ...(masterKey && { masterKey }),
    files: dialect === 'sqlite' ? filesOf(config) : new Map(),
  }
}

/** On Postgres these are in the store. */
function filesOf({ paths }: Config): ReadonlyMap<string, Secret> {
  const found = new Map<string, Secret>()
  const add = (name: string, text: string | undefined) => {
    if (text) found.set(name, new Secret(text))
  }
  add('server/daemon.key', readPrivateFile(paths.daemonKey))
  add('server/catalogue.json', readPrivateFile(paths.catalogue, CATALOGUE_BYTES))
  for (const file of definitionFolder(paths.providers).files()) {
    if ('text' in file) add(`providers/${file.name}`, file.text)
  }
  return found
}

async function tell(location: StoreLocation, version: string, summary: BackupSummary): Promise<void> {
  const store = await openStore(location, { version })
  try {
    const actor = { identity: '(operator)', principalId: '(nobody)' }
    const { connections, events } = summary
    const reason = `${connections} connections and ${events} events`
    await openAudit(store).recordAll([{ actor, event: { event: 'backup.made', status: 'success', reason } }], 'flushed')
  } finally {
    await store.close()
  }
}
