import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, privateFolder } from '../config/index.ts'
import type { Audit } from './audit/index.ts'
import { copyTo } from './make-backup.ts'

export interface ScheduleOptions {
  readonly config: Config
  readonly audit: Pick<Audit, 'recordAll'>
  /** Of Broker. */
  readonly version: string
  /** Told of a backup that could not be made; it is tried again. */
  readonly onFailure: (error: unknown) => void
}

const LOOK_EVERY_MS = 60_000
const NAME = /^broker-\d{4}-\d\d-\d\dT[\d-]+Z\.age$/

/**
 * Makes a backup whenever the newest one in the folder is older than the setting says, and removes all but the newest few. Of
 * several daemons that write into one folder, the first makes it. What ends that is returned.
 */
export function scheduleBackups(options: ScheduleOptions): () => Promise<void> {
  const { backups } = options.config.daemon
  if (backups === undefined) return async () => undefined
  let working: Promise<void> | undefined
  const look = () => {
    working ??= makeIfDue(options, backups, Date.now())
      .catch(options.onFailure)
      .finally(() => {
        working = undefined
      })
  }
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  look()
  return async () => {
    clearInterval(timer)
    await working
  }
}

type Backups = NonNullable<Config['daemon']['backups']>

async function makeIfDue(
  { config, audit, version }: ScheduleOptions,
  { folder, recipient, everyMs, keep }: Backups,
  now: number,
): Promise<void> {
  privateFolder(folder)
  const [newest] = backupsIn(folder)
  if (newest !== undefined && now - statSync(newest).mtimeMs < everyMs) return
  const file = join(folder, `broker-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}.age`)
  const actor = { identity: '(daemon)', principalId: '(nobody)' }
  const tell = (status: 'success' | 'failure', reason: string) =>
    audit.recordAll([{ actor, event: { event: 'backup.made', status, reason } }], 'flushed')
  try {
    const { connections, events } = await copyTo(config, { file, for: { recipient }, withKey: true, version })
    await tell('success', `${connections} connections and ${events} events`)
  } catch (error) {
    await tell('failure', 'the log of the daemon says why')
    throw error
  }
  for (const old of backupsIn(folder).slice(keep)) rmSync(old, { force: true })
}

/** Newest first. */
function backupsIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => NAME.test(name))
  return names
    .sort()
    .reverse()
    .map((name) => join(folder, name))
}
