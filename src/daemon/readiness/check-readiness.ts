import type { Actor } from '../../protocol/index.ts'
import { attentionLine, BrokerError } from '../../protocol/index.ts'
import type { Health, Readiness } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import { attentionIn, type CheckedConnections, type ListedConnections } from '../connections/index.ts'
import type { Deployment } from '../deployment/index.ts'
import type { Suspended } from '../principals/index.ts'
import type { Providers } from '../providers/index.ts'
import type { Rights } from '../rights/index.ts'
import type { SharedCache } from '../shared-cache/index.ts'
import type { Store } from '../store/index.ts'
import type { Vault } from '../vault/index.ts'

export interface ReadinessOptions {
  readonly store: Store
  readonly vault: Vault
  readonly rights: Rights
  readonly deployment: Pick<Deployment, 'issues'>
  readonly audit: Audit
  readonly cache: Pick<SharedCache, 'problem'> | undefined
  readonly providers: Providers
  readonly connections: ListedConnections & CheckedConnections
  /** Whether `server/config.json` and this version agree on the home's layout. */
  readonly homeIsCurrent: boolean
  readonly version: string
  /** What the operator should know of the settings; none of it stops the daemon. */
  readonly advice: readonly string[]
}

/** How much of the audit log's chain a readiness check walks: all of a laptop's recent past, in some ten milliseconds. */
const AUDIT_ROWS = 2000

type Findings = Readonly<Record<Exclude<keyof Readiness['checks'], 'redis'>, Finding>> & { readonly redis?: Finding }
/** What was found wrong, as sentences; what was merely noticed. */
interface Finding {
  readonly issues: readonly string[]
  readonly warnings?: readonly string[]
}

/** Does what the daemon is there for, in small, for one caller (interface section 2.2). */
export async function checkReadiness(options: ReadinessOptions, actor: Actor): Promise<Readiness> {
  const { vault, providers, connections } = options
  await vault.unlock()
  const findings: Findings = {
    store: await attempt(() => checkStore(options)),
    vault: await attempt(() => checkVault(vault, actor)),
    integrity: await attempt(() => checkIntegrity(options, actor)),
    // The signature was verified and its identity found before this was asked.
    identity: { issues: [] },
    providers: await attempt(async () => providers.health()),
    connections: await attempt(async () => ({
      issues: await connections.check(actor.vaultId),
      warnings: attentionIn(await connections.list(actor)).map(attentionLine),
    })),
    spec_version: await attempt(async () => ({ issues: await checkVersions(options) })),
    ...(await cacheFinding(options)),
  }
  return readinessOf(findings, options)
}

/** The same for one whose rows cannot be believed: nothing of any vault is looked at, nor told. */
export async function suspendedReadiness(
  options: ReadinessOptions,
  { suspended, isSealed }: Suspended,
): Promise<Readiness> {
  const findings: Findings = {
    store: await attempt(() => checkStore(options)),
    vault: { issues: isSealed ? [suspended] : [] },
    integrity: { issues: [isSealed ? 'Nothing can be checked while the vault is sealed.' : suspended] },
    identity: { issues: [] },
    providers: await attempt(async () => options.providers.health()),
    connections: { issues: [] },
    spec_version: await attempt(async () => ({ issues: await checkVersions(options) })),
    ...(await cacheFinding(options)),
  }
  return { ...readinessOf(findings, options), ...(isSealed && { sealed: true }) }
}

async function cacheFinding({ cache }: ReadinessOptions): Promise<{ readonly redis?: Finding }> {
  if (cache === undefined) return {}
  const problem = await cache.problem()
  return { redis: { issues: problem === undefined ? [] : [problem] } }
}

async function checkStore({ store, audit }: ReadinessOptions): Promise<Finding> {
  await store.probe()
  const broken = await audit.verify(AUDIT_ROWS)
  return { issues: broken === undefined ? [] : [broken] }
}

async function checkIntegrity({ vault, rights, deployment }: ReadinessOptions, actor: Actor): Promise<Finding> {
  const { issues } = await vault.integrity(actor.vaultId)
  const all = [...issues, ...(await rights.issues(actor)), ...(await deployment.issues())]
  // A store that is older shows in more than one vault.
  return { issues: [...new Set(all)], warnings: await rights.notices(actor.principalId) }
}

async function checkVault(vault: Vault, actor: Actor): Promise<Finding> {
  const status = vault.status()
  if (status.kind === 'sealed') return { issues: [`The vault is sealed: ${status.cause}`] }
  await vault.roundtrip(actor.vaultId)
  return { issues: [], warnings: status.warnings }
}

async function checkVersions({ store, homeIsCurrent }: ReadinessOptions): Promise<readonly string[]> {
  const issues: string[] = []
  if (!homeIsCurrent) issues.push('server/config.json was written by another version of Broker.')
  if (!(await store.schemaIsCurrent())) issues.push('The schema of the store is not the one of this version.')
  return issues
}

async function attempt(check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    return { issues: [error instanceof BrokerError ? error.message : 'A check failed; the daemon log says why.'] }
  }
}

function readinessOf(findings: Findings, { vault, advice }: Pick<ReadinessOptions, 'vault' | 'advice'>): Readiness {
  const entries = Object.entries(findings)
  const issues = entries.flatMap(([name, finding]) => finding.issues.map((issue) => `${name}: ${issue}`))
  const warnings = [...entries.flatMap(([, finding]) => finding.warnings ?? []), ...advice]
  const checks = Object.fromEntries(entries.map(([name, { issues }]) => [name, issues.length === 0 ? 'ok' : 'failed']))
  return {
    status: issues.length === 0 ? 'ready' : 'not_ready',
    checks: checks as Readiness['checks'],
    ...(warnings.length > 0 && { warnings }),
    ...(issues.length > 0 && { issues }),
    ...encryptionOf(vault),
  }
}

/** Liveness: what can be said without asking any part whether it works (interface section 2.1). */
export function healthOf({ vault, version }: Pick<ReadinessOptions, 'vault' | 'version'>): Health {
  return { status: 'ok', version, ...encryptionOf(vault) }
}

function encryptionOf(vault: Vault) {
  const status = vault.status()
  return {
    configured_encryption_mode: vault.mode,
    ...(status.kind === 'open' && { effective_encryption_source: status.source, encryption_backend: status.backend }),
  }
}
