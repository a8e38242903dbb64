import { formatPattern, overlap, tie } from '../../network/index.ts'
import { BrokerError, isProviderName, nearestWord } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { Db } from '../store/index.ts'
import { compileHosts } from './base-url.ts'
import { type CatalogueDifference, catalogueDifference } from './catalogue-difference.ts'
import { type CheckedDefinition, checkDefinitions, conflictsOf } from './check-definitions.ts'
import type { CustomDefinitions } from './custom-definitions.ts'
import { type LoadedDefinitions, loadDefinitions, readDefinitions } from './definition-files.ts'
import { isOneFamily } from './family.ts'
import { hostNeighbours } from './host-neighbours.ts'
import { compileMatchTable, type MatchTable } from './match-table.ts'
import { type CatalogueOptions, type InstalledCatalogue, openCatalogue, type ReadyCatalogue } from './open-catalogue.ts'
import { parseDefinition } from './parse-definition.ts'
import type { Match, Provider, Target } from './provider.ts'

export interface ProvidersOptions {
  /** What came with the installation. */
  readonly bundledDir: string
  readonly custom: CustomDefinitions
  /** {@link CHECKED_DEFINITIONS}: where the bundled files are those, they are read and not checked again. */
  readonly checked?: string
  /** Definitions between releases; none if absent. */
  readonly updates?: CatalogueOptions
}

/** All definitions, bundled and custom. A custom one stands in for the bundled one of its name. */
export interface Providers {
  /** Sees what other daemons of the deployment have changed. */
  refresh(): Promise<void>
  /** Sorted by name. Sees files that were changed by hand, as {@link Providers.health} does. */
  list(): readonly Provider[]
  find(name: string): Provider | undefined
  /** Returns why no custom definition is used now, in a sentence; undefined where they are. */
  problem(): string | undefined
  /** @throws {BrokerError} ProviderNotFoundError */
  get(name: string): Provider
  /**
   * The provider that a request goes to: an exact host before a wildcard, then the longer path prefix. Those that
   * `among` turns down are as if they were not there.
   */
  match(target: Target, among?: (provider: Provider) => boolean): Match
  /**
   * @param at where the definition stands in what was sent, for the paths of the error: none, or `definition`
   * @throws {BrokerError} InvalidRequestError; `details` names each field (`hosts.0`) and repeats no value
   */
  validate(definition: unknown, at?: string): ProviderDefinition
  /** Says of each whether it could be registered, given those before it. Changes nothing. */
  check(definitions: readonly unknown[]): readonly CheckedDefinition[]
  /**
   * Writes a custom definition and puts it to use; where a deployment shares them, from the next {@link Providers.refresh}
   * on.
   * @param tx the transaction of the act: one that is rolled back has changed nothing in a deployment's store
   * @returns sentences on what it now stands in for or competes with
   * @throws {BrokerError} ProviderAlreadyRegisteredError for a name or a host that is taken, unless forced
   */
  register(definition: ProviderDefinition, options: RegisterOptions, tx?: Db): Promise<{ readonly warnings: string[] }>
  /** The same for several that {@link Providers.check} has found good, whatever they stand in for. */
  registerAll(definitions: readonly ProviderDefinition[], tx?: Db): Promise<void>
  /**
   * `removed`: there was a custom definition and now there is none of that name. `reset`: the bundled one is in use.
   * @throws {BrokerError} ProviderNotFoundError
   */
  remove(name: string, tx?: Db): Promise<'removed' | 'reset'>
  /** Returns which catalogue is in use. */
  catalogue(): CatalogueInUse
  /**
   * Reads a signed catalogue file, and says what would change with it.
   * @param pem public key of the operator, where it is not one that is trusted already
   * @throws {BrokerError} as {@link import('./open-catalogue.ts').CatalogueUpdates.ready}; and InvalidRequestError where two
   *   definitions would tie
   */
  planUpdate(text: string, pem: string | undefined): CataloguePlan
  /** The same for going back to what was shipped. */
  planReset(): CataloguePlan
  /** `issues`: definitions that do not parse. `warnings`: overridden names, ties, files that are not trusted. */
  health(): { readonly issues: string[]; readonly warnings: string[] }
}

interface RegisterOptions {
  readonly force: boolean
  /** A host may have others that are more or less specific: only one that ties is taken. */
  readonly beside?: boolean
}

interface CatalogueInUse {
  readonly shippedVersion: string
  readonly installed: readonly InstalledCatalogue[]
}

/** A change of the catalogue that may be made. */
export interface CataloguePlan {
  /** Undefined for a reset. */
  readonly ready: ReadyCatalogue | undefined
  readonly difference: CatalogueDifference
  /** Names among them for which a custom definition is in use: for these nothing changes. */
  readonly overridden: readonly string[]
  /** @param tx the transaction of the act */
  apply(tx?: Db): Promise<void>
}

/** What is in use at one moment; replaced whole. */
interface Registry {
  readonly byName: ReadonlyMap<string, Provider>
  readonly table: MatchTable
  readonly custom: LoadedDefinitions
  readonly version: string
}

/** Reads both directories. Broken files are reported by `health` and keep nothing else from loading. */
export function openProviders(options: ProvidersOptions): Providers {
  const { bundledDir, custom, checked, updates = NO_UPDATES } = options
  const bundled = loadDefinitions(readDefinitions(bundledDir, 'as installed'), checked)
  const catalogue = openCatalogue(updates)
  const problem = () => custom.problem?.()
  let registry = readRegistry()
  return {
    async refresh() {
      await custom.refresh?.()
      refresh()
    },
    list() {
      refresh()
      return [...registry.byName.values()]
    },
    find: (name) => registry.byName.get(name),
    problem,
    get(name) {
      const found = registry.byName.get(name)
      if (!found) throw notFound(name, registry.byName.keys())
      return found
    },
    match: (target, among = () => true) => registry.table.match(target, among),
    validate: parseDefinition,
    check(definitions) {
      refresh()
      return checkDefinitions(definitions, [...registry.byName.values()])
    },
    async register(definition, { force, beside = false }, tx) {
      // Not awaited where there is nothing to wait for: a folder is changed at once.
      if (tx !== undefined && custom.refresh !== undefined) await custom.refresh(tx)
      refresh()
      const valid = parseDefinition(definition)
      const conflicts = conflictsOf(valid, [...registry.byName.values()], beside ? tie : overlap)
      const [first] = conflicts
      if (first !== undefined && !force) throw alreadyRegistered(valid, first)
      await changed(custom.write(valid, tx))
      return { warnings: [...conflicts] }
    },
    async registerAll(definitions, tx) {
      for (const definition of definitions) await changed(custom.write(parseDefinition(definition), tx))
    },
    async remove(name, tx) {
      if (!isProviderName(name)) throw notFound(name, registry.byName.keys())
      const wasThere = await changed(custom.remove(name, tx))
      if (shipped().some((one) => one.name === name)) return 'reset'
      if (wasThere) return 'removed'
      throw notFound(name, registry.byName.keys())
    },
    health() {
      refresh()
      const providers = [...registry.byName.values()]
      const unread = problem()
      return {
        issues: [...bundled.issues, ...registry.custom.issues, ...(unread === undefined ? [] : [unread])],
        warnings: [
          ...bundled.warnings,
          ...catalogue.warnings(),
          ...registry.custom.warnings,
          ...overrides(providers),
          ...ties(providers, ofUpdates()),
        ],
      }
    },
    catalogue: () => ({ shippedVersion: catalogue.shippedVersion, installed: catalogue.installed() }),
    planUpdate(text, pem) {
      refresh()
      const ready = catalogue.ready(text, pem)
      const after = catalogue.over(bundled.definitions, catalogue.with(ready))
      refuseTies(after, new Set(ready.catalogue.definitions.map(({ name }) => name)))
      return planned(ready, after, (tx) => catalogue.install(ready, tx))
    },
    planReset() {
      refresh()
      return planned(undefined, bundled.definitions, (tx) => catalogue.reset(tx))
    },
  }

  function planned(
    ready: ReadyCatalogue | undefined,
    after: readonly ProviderDefinition[],
    change: (tx?: Db) => Promise<void>,
  ): CataloguePlan {
    const difference = catalogueDifference(shipped(), after)
    const names = [...difference.added.map(({ name }) => name), ...difference.changed, ...difference.removed]
    return {
      ready,
      difference,
      overridden: names.filter((name) => registry.byName.get(name)?.source === 'custom'),
      async apply(tx) {
        if (tx !== undefined && custom.refresh !== undefined) await custom.refresh(tx)
        await change(tx)
        registry = readRegistry()
      },
    }
  }

  /** Names of the definitions that did not come with the installation. */
  function ofUpdates(): ReadonlySet<string> {
    return new Set(catalogue.installed().flatMap((one) => one.catalogue.definitions.map(({ name }) => name)))
  }

  /** Those that are bundled, with what the catalogue in use changes. */
  function shipped(): readonly ProviderDefinition[] {
    return catalogue.over(bundled.definitions)
  }

  function refresh(): void {
    if (custom.version() !== registry.version) registry = readRegistry()
  }

  /** A folder has changed when it was told to; `change` is looked at before anybody else gets a turn. */
  async function changed<Result>(change: Promise<Result>): Promise<Result> {
    refresh()
    const result = await change
    refresh()
    return result
  }

  function readRegistry(): Registry {
    const version = custom.version()
    catalogue.reload()
    const loaded = loadDefinitions(custom.files())
    const byName = compile(shipped(), loaded.definitions)
    return { byName, table: compileMatchTable([...byName.values()]), custom: loaded, version }
  }
}

function compile(
  bundled: readonly ProviderDefinition[],
  custom: readonly ProviderDefinition[],
): ReadonlyMap<string, Provider> {
  const isBundled = new Set(bundled.map(({ name }) => name))
  const providers = [
    ...bundled.map((definition) => provider(definition, 'bundled', false)),
    ...custom.map((definition) => provider(definition, 'custom', isBundled.has(definition.name))),
  ]
  const byName = new Map(providers.map((one) => [one.definition.name, one] as const))
  return new Map([...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function provider(definition: ProviderDefinition, source: Provider['source'], overridesBundled: boolean): Provider {
  return { definition, source, overridesBundled, hosts: compileHosts(definition) }
}

function alreadyRegistered({ name }: ProviderDefinition, conflict: string): BrokerError {
  return new BrokerError('ProviderAlreadyRegisteredError', `Cannot register provider "${name}". ${conflict}`, {
    provider: name,
    hint: 'Choose another name or host, or register it with --force',
  })
}

function notFound(name: string, known: Iterable<string>): BrokerError {
  const meant = meantBy(name, [...known])
  return isProviderName(name)
    ? new BrokerError('ProviderNotFoundError', `There is no provider "${name}"`, {
        provider: name,
        hint: meant === undefined ? 'See what there is: broker provider list' : `Did you mean ${meant}?`,
      })
    : new BrokerError('ProviderNotFoundError', 'There is no provider of that name')
}

/** A slip of the keys; or a part of names, where only few have it. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  const nearest = nearestWord(name, known)
  if (nearest !== undefined) return nearest
  const [first, ...others] = name.length < 3 ? [] : known.filter((one) => one.includes(name))
  if (first === undefined || others.length > 5) return undefined
  const last = others.at(-1)
  return last === undefined ? first : `${[first, ...others.slice(0, -1)].join(', ')} or ${last}`
}

function overrides(providers: readonly Provider[]): readonly string[] {
  return providers
    .filter(({ overridesBundled }) => overridesBundled)
    .map(({ definition }) => `Custom provider "${definition.name}" overrides the bundled one of the same name`)
}

const NO_UPDATES: CatalogueOptions = { store: { read: () => undefined, write: async () => undefined } }

/** Those that come together are tested never to tie. @throws BrokerError InvalidRequestError */
function refuseTies(definitions: readonly ProviderDefinition[], ofUpdate: ReadonlySet<string>): void {
  const all = definitions.map((definition) => provider(definition, 'bundled', false))
  const [first, ...more] = ties(all, ofUpdate)
  if (first === undefined) return
  throw new BrokerError('InvalidRequestError', `Cannot use this catalogue. ${first}`, {
    details: [first, ...more].map((message) => ({ path: 'definitions', message })),
  })
}

/** @param ofUpdates names of bundled definitions that were not shipped together with the others */
function ties(providers: readonly Provider[], ofUpdates: ReadonlySet<string>): readonly string[] {
  const isOdd = ({ source, definition }: Provider) => source === 'custom' || ofUpdates.has(definition.name)
  const neighbours = hostNeighbours(providers)
  const order = new Map(providers.map((one, index) => [one, index]))
  return providers.flatMap((one, index) =>
    neighbours.of(one).flatMap((other) => {
      if ((order.get(other) ?? 0) < index) return []
      // Those that come together are tested never to tie.
      if (!isOdd(one) && !isOdd(other)) return []
      if (isOneFamily(one.definition, other.definition)) return []
      const host = one.hosts.find((ours) => other.hosts.some((theirs) => tie(ours, theirs)))
      const names = `Providers "${one.definition.name}" and "${other.definition.name}"`
      return host === undefined ? [] : [`${names} both match ${formatPattern(host)}: nothing is injected there`]
    }),
  )
}
