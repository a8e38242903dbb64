import type { Actor } from '../../protocol/index.ts'
import type { ProviderDefinition, RegisteredOne, RegisteredProviders, RemovedProvider } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { CheckedDefinition, Providers } from '../providers/index.ts'
import type { Store } from '../store/index.ts'
import type { ListedConnections, ManagedConnections } from './connections.ts'

export interface DefinitionsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly providers: Providers
  readonly connections: ListedConnections & Pick<ManagedConnections, 'removeAll'>
}

/**
 * Puts a custom definition to use. Connections made under another definition of its name need approval from then on:
 * their credentials are bound to where that one sent them.
 * @throws BrokerError InvalidRequestError, ProviderAlreadyRegisteredError
 */
export async function registerDefinition(
  { store, audit, providers, connections }: DefinitionsOptions,
  actor: Actor,
  wanted: { readonly definition: ProviderDefinition } & Parameters<Providers['register']>[1],
): Promise<readonly string[]> {
  const { definition: sent, ...options } = wanted
  const definition = providers.validate(sent, 'definition')
  const warnings = await store.transaction(async (tx) => {
    await audit.record(tx, actor, { event: 'provider.registered', status: 'success', provider: definition.name })
    // Last, for the file cannot be rolled back.
    return (await providers.register(definition, options, tx)).warnings
  })
  await providers.refresh()
  return [...warnings, ...(await putToRest(connections, actor, new Set([definition.name])))]
}

/**
 * Puts several custom definitions to use: all, or none where one of them cannot be.
 * @param definitions as they were sent
 */
export async function registerDefinitions(
  { store, audit, providers, connections }: DefinitionsOptions,
  actor: Actor,
  { definitions, force }: { readonly definitions: readonly unknown[]; readonly force: boolean },
): Promise<RegisteredProviders> {
  const checked = providers.check(definitions.map(withoutSource))
  const failed = checked.map((one) => refusalOf(one, force))
  if (failed.some((failure) => failure !== undefined)) {
    return { status: 'failed', results: checked.map((one, index) => failed[index] ?? outcomeOf(one, 'valid')) }
  }
  const good = checked.flatMap(({ definition }) => (definition === undefined ? [] : [definition]))
  await store.transaction(async (tx) => {
    for (const { name } of good) {
      await audit.record(tx, actor, { event: 'provider.registered', status: 'success', provider: name })
    }
    // Last, for files cannot be rolled back.
    await providers.registerAll(good, tx)
  })
  await providers.refresh()
  const resting = await restingOf(connections, actor, new Set(good.map(({ name }) => name)))
  const results = checked.map((one) => {
    const outcome = outcomeOf(one, 'registered')
    const own = resting.filter(({ provider }) => provider === one.name).map(({ warning }) => warning)
    return { ...outcome, warnings: [...outcome.warnings, ...own] }
  })
  return { status: 'ok', results }
}

/** As it is answered: where a definition came from is not a part of it. */
function withoutSource(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return sent
  const { source: _read, ...definition } = sent as Readonly<Record<string, unknown>>
  return definition
}

function outcomeOf({ name, conflicts }: CheckedDefinition, status: 'registered' | 'valid'): RegisteredOne {
  return { ...(name !== undefined && { provider: name }), status, warnings: [...conflicts] }
}

function refusalOf({ name, problems, conflicts }: CheckedDefinition, force: boolean): RegisteredOne | undefined {
  const provider = name === undefined ? {} : { provider: name }
  if (problems.length > 0) {
    const message = 'It cannot be used'
    return {
      ...provider,
      status: 'failed',
      error: 'InvalidRequestError',
      message,
      details: [...problems],
      warnings: [],
    }
  }
  const [conflict] = conflicts
  if (conflict === undefined || force) return undefined
  return { ...provider, status: 'failed', error: 'ProviderAlreadyRegisteredError', message: conflict, warnings: [] }
}

/** Returns which connections will not serve under the definition, and what mends that. */
export async function putToRest(
  connections: ListedConnections,
  actor: Actor,
  names: ReadonlySet<string>,
): Promise<readonly string[]> {
  return (await restingOf(connections, actor, names)).map(({ warning }) => warning)
}

async function restingOf(
  connections: ListedConnections,
  actor: Actor,
  names: ReadonlySet<string>,
): Promise<readonly { readonly provider: string; readonly warning: string }[]> {
  const all = await connections.list(actor)
  return all.flatMap(({ provider, connection, attention }) => {
    if (!names.has(provider) || attention === undefined || !RESTING.has(attention.kind)) return []
    const which = `Connection "${connection}" of ${provider} will not serve`
    return [{ provider, warning: `${which}: ${attention.reason} Mend it: ${attention.fix}` }]
  })
}

const RESTING: ReadonlySet<string> = new Set(['needs_approval', 'needs_login'])

/** Removes a custom definition, or resets a bundled one, and removes the connections made under it. */
export async function removeDefinition(
  { store, audit, providers, connections }: DefinitionsOptions,
  actor: Actor,
  name: string,
): Promise<RemovedProvider> {
  const answer = await store.transaction(async (tx): Promise<RemovedProvider> => {
    const { connections: removed } = await connections.removeAll(tx, actor, name)
    const known = providers.find(name)
    const isReset = known?.source === 'bundled' || known?.overridesBundled === true
    const event = isReset ? 'provider.reset' : 'provider.removed'
    await audit.record(tx, actor, { event, status: 'success', provider: name })
    // Last, for the file cannot be rolled back. It may be one that no longer parses.
    const action = await providers.remove(name, tx)
    return { status: 'ok', provider: name, action, connections_removed: removed }
  })
  await providers.refresh()
  return answer
}

/**
 * Removes a definition to which nobody has a connection, of any vault, and nobody is just logging in.
 * @param isLoginUnderWay asked in the moment in which it would be removed
 * @returns why it was left as it is; undefined where it is gone
 */
export async function removeUnusedDefinition(
  options: DefinitionsOptions,
  actor: Actor,
  { name, isLoginUnderWay }: { readonly name: string; readonly isLoginUnderWay: () => boolean },
): Promise<'connected' | 'login under way' | undefined> {
  const { store, audit, providers, connections } = options
  try {
    await store.transaction(async (tx) => {
      const used = await tx.selectFrom('connections').select('provider').where('provider', '=', name).executeTakeFirst()
      if (used) throw new Kept('connected')
      await connections.removeAll(tx, actor, name)
      await audit.record(tx, actor, { event: 'provider.removed', status: 'success', provider: name })
      if (isLoginUnderWay()) throw new Kept('login under way')
      // Last, for the file cannot be rolled back.
      await providers.remove(name, tx)
    })
    await providers.refresh()
    return undefined
  } catch (error) {
    if (error instanceof Kept) return error.why
    throw error
  }
}

/** Rolls back. */
class Kept extends Error {
  readonly why: 'connected' | 'login under way'

  constructor(why: Kept['why']) {
    super(why)
    this.why = why
  }
}
