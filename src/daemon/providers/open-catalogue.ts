import * as z from 'zod'
import { BrokerError } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { Db } from '../store/index.ts'
import { type Catalogue, type CatalogueKey, catalogueKey, compareVersions, readCatalogue } from './catalogue-file.ts'
import { PROJECT_KEYS, SHIPPED_CATALOGUE } from './shipped-catalogue.ts'

/** Who signed a catalogue: the project, whose keys come with a release, or whoever runs this daemon, by a key of theirs. */
type Publisher = 'project' | 'operator'

/** Holds the installed catalogue files; written whole or not at all. */
export interface CatalogueStore {
  /** Undefined where there are none. @throws BrokerError where somebody else may have written it */
  read(): string | undefined
  /** @param tx the transaction of the act, which a file does not need */
  write(text: string, tx?: Db): Promise<void>
}

export interface CatalogueOptions {
  readonly store: CatalogueStore
  /** Of what was shipped. This release's if absent. */
  readonly shippedVersion?: string
  /** Public keys in PEM. This release's if absent. */
  readonly projectKeys?: readonly string[]
  readonly now?: () => number
}

/** A catalogue file that is in use beside what was shipped. */
export interface InstalledCatalogue {
  readonly publisher: Publisher
  readonly catalogue: Catalogue
}

/** A file that may be put to use. */
export interface ReadyCatalogue extends InstalledCatalogue {
  /** It is in use already, by the same bytes. */
  readonly isInUse: boolean
  /** Key of the operator's catalogue in use, where this one has another. */
  readonly keyBefore: string | undefined
  readonly text: string
}

/** Definitions between releases: signed files that stand before what was shipped, and behind custom definitions. */
export interface CatalogueUpdates {
  readonly shippedVersion: string
  /** In the order in which they stand before each other: the last one wins. */
  installed(): readonly InstalledCatalogue[]
  /** Returns what was shipped, with what the installed files change. */
  over(shipped: readonly ProviderDefinition[], installed?: readonly InstalledCatalogue[]): readonly ProviderDefinition[]
  /**
   * Reads a file and holds it against what was seen before. Changes nothing.
   * @param pem public key of the operator; the one that was named before if absent
   * @throws {BrokerError} InvalidRequestError for what is no catalogue; OperationNotAllowedError where it is not signed by a
   *   trusted key, is older than one that was seen, has expired, or is of the future
   */
  ready(text: string, pem: string | undefined): ReadyCatalogue
  /** Those that would be in use with this one. */
  with(ready: ReadyCatalogue): readonly InstalledCatalogue[]
  /** Sees what the store has now. */
  reload(): void
  /** @throws {BrokerError} OperationNotAllowedError where a newer one came meanwhile */
  install(ready: ReadyCatalogue, tx?: Db): Promise<void>
  /** Back to what was shipped. The versions that were seen stay known. */
  reset(tx?: Db): Promise<void>
  /** Sentences on files that are not used, in part or whole, and why. */
  warnings(): readonly string[]
}

const stateShape = z.strictObject({
  format: z.literal(1),
  installed: z.array(z.strictObject({ publisher: z.enum(['project', 'operator']), key: z.string(), file: z.string() })),
  /** By the id of a key, the newest that it signed: an older one is a replay. */
  seen: z.record(z.string(), z.strictObject({ version: z.string(), digest: z.string() })),
})
type State = z.infer<typeof stateShape>

const EMPTY: State = { format: 1, installed: [], seen: {} }
const DAY_MS = 86_400_000

/** A state that cannot be read is none: the daemon starts with what was shipped, and says so. */
export function openCatalogue(options: CatalogueOptions): CatalogueUpdates {
  const { store, shippedVersion = SHIPPED_CATALOGUE, projectKeys = PROJECT_KEYS, now = Date.now } = options
  const pinned = projectKeys.map(catalogueKey)
  let read = readState(store)
  let loaded = load()

  return {
    shippedVersion,
    installed: () => loaded.installed,
    over: (shipped, installed = loaded.installed) => installed.reduce(overlaid, shipped),
    ready(text, pem) {
      const named = pem === undefined ? undefined : catalogueKey(pem)
      const before = operatorKey(read.state)
      const own = named ?? before
      const catalogue = readCatalogue(text, [...pinned, ...(own ? [own] : [])], 'refuse')
      const publisher = catalogue.signers.some(isPinned) ? 'project' : 'operator'
      refuseUntimely(catalogue, now())
      for (const { id } of catalogue.signers) refuseOlder(catalogue, read.state.seen[id])
      if (publisher === 'project') refuseShipped(catalogue, shippedVersion)
      const isInUse = loaded.installed.some(({ catalogue: one }) => one.digest === catalogue.digest)
      const isOther = publisher === 'operator' && named !== undefined && named.id !== before?.id
      return { publisher, catalogue, isInUse, keyBefore: isOther ? before?.id : undefined, text }
    },
    with: (ready) => inOrder([...loaded.installed.filter(({ publisher }) => publisher !== ready.publisher), ready]),
    reload,
    async install({ publisher, catalogue, text }, tx) {
      reload()
      const { state } = read
      for (const { id } of catalogue.signers) refuseOlder(catalogue, state.seen[id])
      const [signer] = catalogue.signers
      const others = state.installed.filter((one) => one.publisher !== publisher)
      const { version, digest } = catalogue
      const seen = Object.fromEntries(catalogue.signers.map(({ id }) => [id, { version, digest }]))
      const installed = [...others, { publisher, key: signer?.pem ?? '', file: text }]
      await keep({ format: 1, installed, seen: { ...state.seen, ...seen } }, tx)
    },
    async reset(tx) {
      reload()
      await keep({ ...read.state, installed: [] }, tx)
    },
    warnings: () => [
      ...(read.problem === undefined ? [] : [read.problem]),
      ...loaded.warnings,
      ...loaded.installed.flatMap(expiry),
    ],
  }

  function reload(): void {
    const now = readState(store, read)
    if (now === read) return
    read = now
    loaded = load()
  }

  async function keep(next: State, tx?: Db): Promise<void> {
    await store.write(`${JSON.stringify(next)}\n`, tx)
  }

  function isPinned({ id }: CatalogueKey): boolean {
    return pinned.some((one) => one.id === id)
  }

  function load(): { readonly installed: readonly InstalledCatalogue[]; readonly warnings: readonly string[] } {
    const outcomes = read.state.installed.map((one) => loadOne(one))
    return {
      installed: inOrder(outcomes.flatMap(({ installed }) => installed)),
      warnings: outcomes.flatMap(({ warnings }) => warnings),
    }
  }

  function loadOne({ publisher, key, file }: State['installed'][number]): Loaded {
    try {
      // What a release no longer trusts is no longer used, whoever trusted it before.
      const catalogue = readCatalogue(file, publisher === 'project' ? pinned : [catalogueKey(key)], 'leave out')
      const isOld = compareVersions(catalogue.version, shippedVersion) <= 0
      if (publisher === 'project' && isOld) return { installed: [], warnings: [] }
      return { installed: [{ publisher, catalogue }], warnings: leftOut(file, catalogue) }
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      return { installed: [], warnings: [`A catalogue of the ${publisher} is not used any more. ${error.message}`] }
    }
  }

  function expiry({ catalogue: { version, expiresAt } }: InstalledCatalogue): readonly string[] {
    if (expiresAt === undefined || Date.parse(expiresAt) > now()) return []
    return [
      `The catalogue ${version} has expired on ${expiresAt.slice(0, 10)}; it stays in use until there is a newer one`,
    ]
  }
}

interface Loaded {
  readonly installed: readonly InstalledCatalogue[]
  readonly warnings: readonly string[]
}

interface ReadState {
  readonly state: State
  readonly text?: string | undefined
  readonly problem?: string
}

/** @param before taken again where nothing has changed since */
function readState(store: CatalogueStore, before?: ReadState): ReadState {
  try {
    const text = store.read()
    if (before !== undefined && before.problem === undefined && text === before.text) return before
    if (text === undefined || text === '') return { state: EMPTY, text }
    const parsed = stateShape.safeParse(JSON.parse(text))
    if (parsed.success) return { state: parsed.data, text }
  } catch (error) {
    if (!(error instanceof BrokerError || error instanceof SyntaxError)) throw error
  }
  return {
    state: EMPTY,
    problem:
      'server/catalogue.json cannot be read, or others may write it: the shipped definitions are in use. Start anew with `broker provider update --reset`',
  }
}

function leftOut(file: string, { version, definitions }: Catalogue): readonly string[] {
  const { payload } = JSON.parse(file) as { readonly payload: string }
  const { definitions: all } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { definitions: unknown[] }
  const count = all.length - definitions.length
  if (count === 0) return []
  return [`${count} of the definitions in the catalogue ${version} cannot be used by this version of Broker`]
}

function operatorKey({ installed }: State): CatalogueKey | undefined {
  const own = installed.find(({ publisher }) => publisher === 'operator')
  return own && catalogueKey(own.key)
}

/** The operator's own stands before the project's. */
function inOrder<One extends InstalledCatalogue>(installed: readonly One[]): readonly One[] {
  return installed.toSorted((a, b) => Number(a.publisher === 'operator') - Number(b.publisher === 'operator'))
}

function overlaid(
  below: readonly ProviderDefinition[],
  { catalogue: { definitions, removed } }: InstalledCatalogue,
): readonly ProviderDefinition[] {
  const gone = new Set([...removed, ...definitions.map(({ name }) => name)])
  return [...below.filter(({ name }) => !gone.has(name)), ...definitions]
}

function refuseUntimely({ version, expiresAt }: Catalogue, now: number): void {
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now) {
    throw refused(version, `it expired on ${expiresAt.slice(0, 10)}`, 'Get a newer one from whoever publishes it.')
  }
  // With such a version installed, none of today would be newer.
  if (Date.parse(version.slice(0, 10)) > now + 2 * DAY_MS) {
    throw refused(
      version,
      'its version is of a day to come',
      'Look at the clock of this machine, and of whoever made it.',
    )
  }
}

function refuseOlder({ version, digest }: Catalogue, seen: State['seen'][string] | undefined): void {
  if (seen === undefined || digest === seen.digest) return
  const order = compareVersions(version, seen.version)
  if (order > 0) return
  const what = order < 0 ? `it is older than ${seen.version}` : 'there was another of the same version'
  throw refused(version, `${what}, which was in use here`, 'An old file may lack what was mended since.')
}

function refuseShipped({ version }: Catalogue, shipped: string): void {
  if (compareVersions(version, shipped) > 0) return
  throw refused(version, `it is not newer than ${shipped}, which came with this version of Broker`)
}

function refused(version: string, why: string, hint?: string): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot use the catalogue ${version}: ${why}`, {
    ...(hint !== undefined && { hint }),
  })
}
