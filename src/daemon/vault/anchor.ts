import { createHmac, timingSafeEqual } from 'node:crypto'
import { BrokerError } from '../../protocol/index.ts'
import type { KeyHierarchy } from './key-hierarchy.ts'

/** A small file outside the store that remembers how far each vault has come: an older store shows. */
export interface AnchorFile {
  /** What people know it by; `vault-anchor.json` if absent. */
  name?(deploymentId: string): string
  read(deploymentId: string): string | undefined
  write(text: string, deploymentId: string): void
  /** One that versions of before may have written for this deployment, or for another. */
  readonly earlier?: { read(): string | undefined; remove(): void }
}

export interface Anchor {
  /** Whether the vault is older than it once was on this machine, or was when the daemon began. */
  isRolledBack(vaultId: string): boolean
  /** How far it has come; 0 where it was never heard of. */
  reached(vaultId: string): number
  /** Whether anything was ever written here: the file is not a new one then. */
  isUsed(): boolean
  /** Remembers how far vaults have come, by one write: what it costs grows with the number of all that are known. */
  advance(reached: Iterable<readonly [vaultId: string, generation: number]>): void
  /** Remembers that the store was found older, however far it comes from there. */
  noteRollback(vaultId: string): void
  /** Takes a vault as it is now, older than it was or not. */
  accept(vaultId: string): void
  /** What people know the file by. */
  readonly name: string
  /** Returns whether the last change is written, now at the latest. A disk that is full must not end the daemon. */
  isWritten(): boolean
  /** Whether the file was there but is not what this deployment wrote. */
  readonly damaged: boolean
  /** Writes it so that it is believed by the keys of now and by those. @throws where it cannot be written */
  announce(next: KeyHierarchy): void
  /** The same anchor by other keys, written so. */
  under(keys: KeyHierarchy): Anchor
}

/** Above every generation: a vault that was once found rolled back stays so until somebody removes the file. */
const ROLLED_BACK = Number.MAX_SAFE_INTEGER

/** @param stored generation of each vault as the store has it now, before anything is written */
export function openAnchor(keys: KeyHierarchy, file: AnchorFile, stored: ReadonlyMap<string, number>): Anchor {
  const { deploymentId } = keys
  const text = textOf(file, deploymentId) ?? takenOver(keys, file)
  const isNone = text === undefined || (text === '' && stored.size === 0)
  const known = isNone ? new Map<string, number>() : parse(keys, text)
  const anchor = anchorOf(keys, file, known)
  const older = [...stored].filter(([vaultId, generation]) => generation < anchor.reached(vaultId))
  anchor.advance(older.map(([vaultId]) => [vaultId, ROLLED_BACK]))
  return anchor
}

/** @param known undefined where the file is not what this deployment wrote */
function anchorOf(keys: KeyHierarchy, file: AnchorFile, known: Map<string, number> | undefined): Anchor {
  const { deploymentId } = keys
  const generations = known ?? new Map<string, number>()
  let written = true
  const write = () => {
    written = tryTo(() => file.write(print(keys, generations), deploymentId))
  }
  const advance: Anchor['advance'] = (reached) => {
    const further = [...reached].filter(([vaultId, generation]) => generation > (generations.get(vaultId) ?? 0))
    for (const [vaultId, generation] of further) generations.set(vaultId, generation)
    // A damaged anchor stays as evidence until somebody has looked at it.
    if (further.length > 0 && known !== undefined) write()
  }
  return {
    name: `server/${nameOf(file, deploymentId)}`,
    damaged: known === undefined,
    isWritten() {
      // There may be room again.
      if (!written) write()
      return written
    },
    isRolledBack: (vaultId) => generations.get(vaultId) === ROLLED_BACK,
    reached: (vaultId) => generations.get(vaultId) ?? 0,
    isUsed: () => generations.size > 0,
    advance,
    noteRollback: (vaultId) => advance([[vaultId, ROLLED_BACK]]),
    accept(vaultId) {
      generations.set(vaultId, 0)
      write()
    },
    announce: (next) => file.write(print(keys, generations, next), deploymentId),
    under(next) {
      const anchor = anchorOf(next, file, known)
      // Written by the first look at whether it is.
      if (known !== undefined) tryTo(() => file.write(print(next, generations), deploymentId))
      return anchor
    },
  }
}

function nameOf(file: AnchorFile, deploymentId: string): string {
  return file.name?.(deploymentId) ?? 'vault-anchor.json'
}

/** The message goes to callers: without the path. */
function textOf(file: AnchorFile, deploymentId: string): string | undefined {
  try {
    return file.read(deploymentId)
  } catch (cause) {
    const name = JSON.stringify(nameOf(file, deploymentId))
    const message = `The file ${name} cannot be read: it is a link, or no file of the owner alone`
    throw new BrokerError('DaemonUnavailableError', message, { cause })
  }
}

/** The earlier file, where it is of this deployment: its name did not tell. One of another store stays as it is. */
function takenOver(keys: KeyHierarchy, { earlier, write }: AnchorFile): string | undefined {
  if (earlier === undefined) return undefined
  let text: string | undefined
  const isRead = tryTo(() => {
    text = earlier.read()
  })
  if (!isRead || text === undefined || parse(keys, text) === undefined) return undefined
  const taken = text
  tryTo(() => {
    write(taken, keys.deploymentId)
    earlier.remove()
  })
  return taken
}

function tryTo(write: () => void): boolean {
  try {
    write()
    return true
  } catch {
    return false
  }
}

/** @param next keys that may be the deployment's by the time that it is read */
function print(keys: KeyHierarchy, generations: ReadonlyMap<string, number>, next?: KeyHierarchy): string {
  const entries = [...generations].sort()
  const macs = { mac: macOf(keys, entries), ...(next && { next: macOf(next, entries) }) }
  const printed = Object.entries(macs).map(([name, mac]) => [name, mac.toString('hex')])
  return `${JSON.stringify({ vaults: Object.fromEntries(entries), ...Object.fromEntries(printed) })}\n`
}

function parse(keys: KeyHierarchy, text: string): Map<string, number> | undefined {
  try {
    const {
      vaults,
      mac,
      next = '',
    } = JSON.parse(text) as {
      vaults: Record<string, number>
      mac: string
      next?: string
    }
    const entries = Object.entries(vaults).sort()
    const expected = macOf(keys, entries)
    const isOurs = [mac, next].some((hex) => {
      const given = Buffer.from(hex, 'hex')
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
    return isOurs ? new Map(entries) : undefined
  } catch {
    return undefined
  }
}

function macOf(keys: KeyHierarchy, entries: readonly (readonly [string, number])[]): Buffer {
  return createHmac('sha256', keys.anchor)
    .update(JSON.stringify([keys.deploymentId, entries]))
    .digest()
}
