import { createHmac, timingSafeEqual } from 'node:crypto'
import { BrokerError } from '../../protocol/index.ts'
import type { KeyHierarchy } from './key-hierarchy.ts'

/** A small file outside the store that remembers how far each vault has come: an older store shows. */
export interface AnchorFile {
  read(): string | undefined
  write(text: string): void
}

export interface Anchor {
  /** Whether the vault is older than it once was on this machine, or was when the daemon began. */
  isRolledBack(vaultId: string): boolean
  /** How far it has come; 0 where it was never heard of. */
  reached(vaultId: string): number
  /** Whether anything was ever written here: the file is not a new one then. */
  isUsed(): boolean
  /** Remembers how far a vault has come. */
  advance(vaultId: string, generation: number): void
  /** Takes a vault as it is now, older than it was or not. */
  accept(vaultId: string, generation: number): void
  /** Whether the last change is written, now at the latest. A disk that is full must not end the daemon. */
  isWritten(): boolean
  /** Whether the file was there but is not what this deployment wrote. */
  readonly damaged: boolean
}

/** Above every generation: a vault that was once found rolled back stays so until somebody removes the file. */
const ROLLED_BACK = Number.MAX_SAFE_INTEGER

/** @param stored generation of each vault as the store has it now, before anything is written */
export function openAnchor(keys: KeyHierarchy, file: AnchorFile, stored: ReadonlyMap<string, number>): Anchor {
  const text = textOf(file)
  const isNone = text === undefined || (text === '' && stored.size === 0)
  const known = isNone ? new Map<string, number>() : parse(keys, text)
  const generations = known ?? new Map<string, number>()
  let written = true
  const write = () => {
    written = tryTo(() => file.write(print(keys, generations)))
  }
  const advance = (vaultId: string, generation: number) => {
    if (generation <= (generations.get(vaultId) ?? 0)) return
    generations.set(vaultId, generation)
    // A damaged anchor stays as evidence until somebody has looked at it.
    if (known !== undefined) write()
  }
  for (const [vaultId, generation] of stored) {
    if (generation < (generations.get(vaultId) ?? 0)) advance(vaultId, ROLLED_BACK)
  }
  return {
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
    accept(vaultId, generation) {
      generations.set(vaultId, generation)
      write()
    },
  }
}

/** The message goes to callers: without the path. */
function textOf(file: AnchorFile): string | undefined {
  try {
    return file.read()
  } catch (cause) {
    const message = 'The file "vault-anchor.json" cannot be read: it is a link, or no file of the owner alone'
    throw new BrokerError('DaemonUnavailableError', message, { cause })
  }
}

function tryTo(write: () => void): boolean {
  try {
    write()
    return true
  } catch {
    return false
  }
}

function print(keys: KeyHierarchy, generations: ReadonlyMap<string, number>): string {
  const entries = [...generations].sort()
  return `${JSON.stringify({ vaults: Object.fromEntries(entries), mac: macOf(keys, entries).toString('hex') })}\n`
}

function parse(keys: KeyHierarchy, text: string): Map<string, number> | undefined {
  try {
    const { vaults, mac } = JSON.parse(text) as { vaults: Record<string, number>; mac: string }
    const entries = Object.entries(vaults).sort()
    const expected = macOf(keys, entries)
    const given = Buffer.from(mac, 'hex')
    return given.length === expected.length && timingSafeEqual(given, expected) ? new Map(entries) : undefined
  } catch {
    return undefined
  }
}

function macOf(keys: KeyHierarchy, entries: readonly (readonly [string, number])[]): Buffer {
  return createHmac('sha256', keys.anchor)
    .update(JSON.stringify([keys.deploymentId, entries]))
    .digest()
}
