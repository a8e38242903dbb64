import type { Actor } from '../../protocol/index.ts'
import type { ProviderDefinition, RemovedProvider } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Providers } from '../providers/index.ts'
import type { Store } from '../store/index.ts'
import type { Connections } from './open-connections.ts'

export interface DefinitionsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly providers: Providers
  readonly connections: Connections
}

/**
 * Puts a custom definition to use. Connections made under another definition of its name need approval from then on:
 * their credentials are bound to where that one sent them.
 * @throws BrokerError InvalidRequestError, ProviderAlreadyRegisteredError
 */
export async function registerDefinition(
  { store, audit, providers }: DefinitionsOptions,
  actor: Actor,
  wanted: { readonly definition: ProviderDefinition; readonly force: boolean },
): Promise<readonly string[]> {
  const definition = providers.validate(wanted.definition, 'definition')
  return store.transaction(async (tx) => {
    await audit.record(tx, actor, { event: 'provider.registered', status: 'success', provider: definition.name })
    // Last, for the file cannot be rolled back.
    return providers.register(definition, { force: wanted.force }).warnings
  })
}

/** Removes a custom definition, or resets a bundled one, and removes the connections made under it. */
export async function removeDefinition(
  { store, audit, providers, connections }: DefinitionsOptions,
  actor: Actor,
  name: string,
): Promise<RemovedProvider> {
  return store.transaction(async (tx) => {
    const { connections: removed } = await connections.removeAll(tx, actor, name)
    const known = providers.find(name)
    const isReset = known?.source === 'bundled' || known?.overridesBundled === true
    const event = isReset ? 'provider.reset' : 'provider.removed'
    await audit.record(tx, actor, { event, status: 'success', provider: name })
    // Last, for the file cannot be rolled back. It may be one that no longer parses.
    return { status: 'ok', provider: name, action: providers.remove(name), connections_removed: removed }
  })
}
