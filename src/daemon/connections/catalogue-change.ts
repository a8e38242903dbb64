import type { Actor } from '../../protocol/index.ts'
import type { CatalogueChange, CatalogueState } from '../../schemas/index.ts'
import type { CataloguePlan, Providers } from '../providers/index.ts'
import { type DefinitionsOptions, putToRest } from './provider-definitions.ts'

export interface CatalogueUpdate {
  readonly file: string
  readonly key: string | undefined
  readonly check: boolean
}

type Installed = ReturnType<Providers['catalogue']>['installed'][number]

/** Returns which catalogue is in use. */
export function catalogueState({ providers }: Pick<DefinitionsOptions, 'providers'>): CatalogueState {
  const { shippedVersion, installed } = providers.catalogue()
  return { shipped_version: shippedVersion, installed: installed.map(described) }
}

/**
 * Puts a signed catalogue file to use, or only says what would change. Connections whose definitions send them elsewhere
 * need approval from then on, as after an upgrade.
 * @throws BrokerError as {@link Providers.planUpdate}
 */
export async function updateCatalogue(
  options: DefinitionsOptions,
  actor: Actor,
  { file, key, check }: CatalogueUpdate,
): Promise<CatalogueChange> {
  const plan = options.providers.planUpdate(file, key)
  const { ready } = plan
  if (ready?.isInUse) return answerOf(plan, 'unchanged', [])
  const warnings = ready?.keyBefore === undefined ? [] : [`It takes the place of the one by the key ${ready.keyBefore}`]
  if (check) return answerOf(plan, 'checked', warnings)
  const reason =
    ready && `${ready.catalogue.version}, signed by ${ready.catalogue.signers.map(({ id }) => id).join(', ')}`
  await apply(options, actor, plan, { event: 'catalogue.updated', ...(reason !== undefined && { reason }) })
  return answerOf(plan, 'ok', [...warnings, ...(await resting(options, actor, plan))])
}

/** Back to what was shipped, or what would change by that. */
export async function resetCatalogue(
  options: DefinitionsOptions,
  actor: Actor,
  { check }: Pick<CatalogueUpdate, 'check'>,
): Promise<CatalogueChange> {
  const plan = options.providers.planReset()
  if (check) return answerOf(plan, 'checked', [])
  await apply(options, actor, plan, { event: 'catalogue.reset' })
  return answerOf(plan, 'ok', await resting(options, actor, plan))
}

async function apply(
  { store, audit, providers }: DefinitionsOptions,
  actor: Actor,
  plan: CataloguePlan,
  what: { readonly event: 'catalogue.updated' | 'catalogue.reset'; readonly reason?: string },
): Promise<void> {
  await store.transaction(async (tx) => {
    await audit.record(tx, actor, { ...what, status: 'success' })
    // Last, for the file cannot be rolled back.
    await plan.apply(tx)
  })
  await providers.refresh()
}

async function resting(
  { connections }: DefinitionsOptions,
  actor: Actor,
  { difference, overridden }: CataloguePlan,
): Promise<readonly string[]> {
  const names = [...difference.changed, ...difference.removed].filter((name) => !overridden.includes(name))
  return putToRest(connections, actor, new Set(names))
}

function answerOf(
  { ready, difference, overridden }: CataloguePlan,
  status: CatalogueChange['status'],
  warnings: readonly string[],
): CatalogueChange {
  const lines = ({ hosts, injections, endpoints }: (typeof difference.moved)[number]['added']) => ({
    hosts: [...hosts],
    injections: [...injections],
    endpoints: [...endpoints],
  })
  return {
    status,
    ...(ready && { catalogue: described(ready) }),
    difference: {
      added: difference.added.map(({ name, hosts }) => ({ name, hosts: [...hosts] })),
      changed: [...difference.changed],
      removed: [...difference.removed],
      moved: difference.moved.map(({ name, added, removed }) => ({
        name,
        added: lines(added),
        removed: lines(removed),
      })),
    },
    overridden: [...overridden],
    warnings: [...warnings],
  }
}

function described({ publisher, catalogue }: Installed): CatalogueState['installed'][number] {
  const { version, signers, madeAt, expiresAt, definitions } = catalogue
  return {
    version,
    publisher,
    keys: signers.map(({ id }) => id),
    made_at: madeAt,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    definitions: definitions.length,
  }
}
