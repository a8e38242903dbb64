import { randomUUID } from 'node:crypto'
import { verifyInnerRun } from '../../identity/index.ts'
import { type Actor, BrokerError, type RunGrant } from '../../protocol/index.ts'
import type { Run, StartRun } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Rights } from '../rights/index.ts'
import { type Db, preparedQuery, type RunRow, type Store } from '../store/index.ts'
import { actorOf, runByDid, runEvidenceOf } from './acting-rows.ts'

/** The key of a run is in the memory of one process: its grant outlives long sessions, and is worthless without it. */
const LIFETIME_MS = 7 * 24 * 60 * 60 * 1000

interface RunsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly rights: Rights
}

interface StartRunOptions extends RunsOptions {
  readonly overrides?: 'allow' | 'forbid'
}

export async function startRun(
  { store, audit, rights, overrides }: StartRunOptions,
  actor: Actor,
  wanted: StartRun,
  now: number,
): Promise<Run> {
  const refusal = overrides === 'forbid' ? refusalOf(wanted.overrides) : undefined
  if (refusal !== undefined) {
    await store.transaction((tx) => audit.record(tx, actor, { ...startOf(wanted), status: 'denied' }))
    throw refusal
  }
  const id = randomUUID()
  const expires_at = new Date(now + LIFETIME_MS).toISOString()
  await store.transaction(async (tx) => {
    await refuseKnownKey(tx, wanted.did)
    const grants = grantsOf(wanted, await outerGrants(tx, rights, actor, { wanted, now }))
    const row = rights.seal('runs', {
      id,
      did: wanted.did,
      identity_id: identityOf(actor),
      grants: JSON.stringify(grants),
      epoch: await epochOf(tx, actor),
      created_at: new Date(now).toISOString(),
      expires_at,
      ended_at: null,
    })
    await tx.insertInto('runs').values(row).execute()
    await audit.record(tx, actor, { ...startOf(wanted), status: 'success', runId: id })
  })
  return { run_id: id, expires_at }
}

function startOf({ command, isolation = 'none', overrides }: StartRun) {
  const isOverridden = Object.keys(overrides ?? {}).length > 0
  return {
    event: 'run.started' as const,
    ...(command && { reason: command }),
    details: { isolation, ...(isOverridden && { overrides }) },
  }
}

/** A proxy on the way sees what TLS leaves to be seen, and often it is the only way: it is recorded, never refused. */
function refusalOf({
  ca,
  connect_to: connectTo = [],
}: NonNullable<StartRun['overrides']> = {}): BrokerError | undefined {
  const settings = [
    ...(ca ? ['BROKER_PROXY_CA_FILE', 'SSL_CERT_FILE', 'SSL_CERT_DIR'] : []),
    ...(connectTo.length > 0 ? ['BROKER_PROXY_CONNECT_TO'] : []),
  ]
  if (settings.length === 0) return undefined
  return new BrokerError(
    'OperationNotAllowedError',
    'The owner of the daemon allows no run that trusts authorities, or dials addresses, of its own',
    { hint: `Run it without ${settings.join(', ')}.` },
  )
}

type Grants = Omit<RunGrant, 'id'>

function identityOf({ identityId }: Actor): string {
  if (identityId !== undefined) return identityId
  throw new BrokerError('OperationNotAllowedError', 'Only an agent has runs')
}

async function epochOf(tx: Db, { principalId }: Actor): Promise<number> {
  const { epoch } = await tx
    .selectFrom('principals')
    .select('epoch')
    .where('id', '=', principalId)
    .executeTakeFirstOrThrow()
  return epoch
}

/**
 * Returns what the run that the new one is started in may do; undefined where there is none. Which one it is, that run's own
 * key has said: a name in an environment can be anybody's.
 */
async function outerGrants(
  db: Db,
  rights: Rights,
  actor: Actor,
  { wanted, now }: { readonly wanted: StartRun; readonly now: number },
): Promise<Grants | undefined> {
  const { did, within, within_signature: signature = '' } = wanted
  if (within === undefined) return undefined
  const row = await db
    .selectFrom('runs')
    .innerJoin('identities', 'identities.id', 'runs.identity_id')
    .innerJoin('principals', 'principals.id', 'identities.principal_id')
    .selectAll('runs')
    .select('principals.epoch as principal_epoch')
    .where('runs.id', '=', within)
    .where('runs.identity_id', '=', identityOf(actor))
    .executeTakeFirst()
  if (!row || !rights.isGenuine({ table: 'runs', row }) || row.epoch !== row.principal_epoch || !isLive(row, now)) {
    throw new BrokerError('OperationNotAllowedError', 'The run around this one has ended', {
      hint: 'Start the outer command again with `broker run`.',
    })
  }
  if (verifyInnerRun(row.did, { within, did }, signature)) return JSON.parse(row.grants) as Grants
  throw new BrokerError('OperationNotAllowedError', 'The run around this one has not said that this one is within it', {
    hint: 'Start it with `broker run` in the outer command.',
  })
}

/** Returns what was asked for, within what the outer run may do. @throws BrokerError OperationNotAllowedError where it is more. */
function grantsOf({ only, connections = {}, within }: StartRun, outer: Grants | undefined): Grants {
  if (outer === undefined) return { ...(only && { only }), connections: { ...connections } }
  for (const provider of only ?? []) {
    if (!(outer.only?.includes(provider) ?? true)) throw moreThanOuter(provider, `--only ${provider}`)
  }
  for (const [provider, connection] of Object.entries(connections)) {
    const granted = Object.hasOwn(outer.connections, provider) ? outer.connections[provider] : undefined
    if (granted !== connection) throw moreThanOuter(provider, `--connection ${provider}=${connection}`)
  }
  const both = only ?? outer.only
  return { ...(both && { only: both }), connections: outer.connections, ...(within && { within }) }
}

function moreThanOuter(provider: string, option: string): BrokerError {
  return new BrokerError('OperationNotAllowedError', `The run around this one was not started with ${option}`, {
    provider,
    hint: 'Give the option to the outer `broker run`, too: a run inside another may do no more than that one.',
  })
}

async function refuseKnownKey(tx: Db, did: string): Promise<void> {
  const identity = await tx.selectFrom('identities').select('did').where('did', '=', did).executeTakeFirst()
  const run = await tx.selectFrom('runs').select('did').where('did', '=', did).executeTakeFirst()
  if (identity ?? run) {
    throw new BrokerError('InvalidRequestError', 'A run needs a key of its own', {
      details: [{ path: 'did', message: 'is already in use' }],
    })
  }
}

interface RunEnd {
  readonly exitCode: number | undefined
  readonly now: number
}

/**
 * @throws BrokerError NotFoundError where no run of this identity goes by that id, or a run would end another. Ending it
 * twice is no error.
 */
export async function endRun(
  { store, audit, rights }: RunsOptions,
  actor: Actor,
  id: string,
  end: RunEnd,
): Promise<void> {
  if (actor.run !== undefined && actor.run.id !== id) throw noSuchRun()
  await store.transaction(async (tx) => {
    const run = await tx
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', id)
      .where('identity_id', '=', identityOf(actor))
      .executeTakeFirst()
    if (!run) throw noSuchRun()
    await tx.deleteFrom('run_channels').where('run_id', '=', id).execute()
    if (run.ended_at !== null) return
    // One that nobody believes is not made good by its end.
    if (!rights.isGenuine({ table: 'runs', row: run })) throw noSuchRun()
    const { ended_at, mac } = rights.seal('runs', { ...run, ended_at: new Date(end.now).toISOString() })
    await tx.updateTable('runs').set({ ended_at, mac }).where('id', '=', id).execute()
    await audit.record(tx, actor, {
      event: 'run.ended',
      status: end.exitCode === 0 ? 'success' : 'failure',
      runId: id,
      reason: end.exitCode === undefined ? 'lost' : `exit code ${end.exitCode}`,
    })
  })
}

function noSuchRun(): BrokerError {
  return new BrokerError('NotFoundError', 'There is no such run')
}

/**
 * Whoever signed with the key of a run: its identity, narrowed by it. Undefined where no run has that key.
 * @throws BrokerError AuthenticationFailedError where the run has ended
 */
export async function runActor(
  { store, rights }: Pick<RunsOptions, 'store' | 'rights'>,
  { handle, issuer: did, now }: { readonly handle: string; readonly issuer: string; readonly now: number },
): Promise<Actor | undefined> {
  const row = await rights.believe((db) => runByDid(db, { did }), runEvidenceOf)
  const actor = row && actorOf(row)
  if (!actor || row.handle !== handle) return undefined
  if (row.run_epoch !== row.epoch || !isLive(row, now)) throw runEnded()
  const grants = JSON.parse(row.grants) as Grants
  await requireOuterRuns(store.db, rights, { within: grants.within, epoch: row.epoch, now })
  return { ...actor, kind: 'run', did, run: { id: row.run_id, ...grants } }
}

/** A run does not outlive those that it was started in. */
async function requireOuterRuns(
  db: Db,
  rights: Rights,
  { within, epoch, now }: { readonly within: string | undefined; readonly epoch: number | null; readonly now: number },
): Promise<void> {
  for (let id = within; id !== undefined; ) {
    const row = await runById(db, { id })
    if (!row || !rights.isGenuine({ table: 'runs', row }) || row.epoch !== epoch || !isLive(row, now)) throw runEnded()
    id = (JSON.parse(row.grants) as Grants).within
  }
}

/** Seals the runs that go on under the principal's new epoch. */
export async function carryRunsOver(
  tx: Db,
  rights: Rights,
  { principalId, epoch, now }: { readonly principalId: string; readonly epoch: number; readonly now: number },
): Promise<void> {
  const rows = await tx
    .selectFrom('runs')
    .innerJoin('identities', 'identities.id', 'runs.identity_id')
    .selectAll('runs')
    .where('identities.principal_id', '=', principalId)
    .where('runs.epoch', '=', epoch - 1)
    .where('ended_at', 'is', null)
    .execute()
  for (const row of rows) {
    if (!isLive(row, now) || !rights.isGenuine({ table: 'runs', row })) continue
    const { mac } = rights.seal('runs', { ...row, epoch })
    await tx.updateTable('runs').set({ epoch, mac }).where('id', '=', row.id).execute()
  }
}

function isLive({ ended_at, expires_at }: Pick<RunRow, 'ended_at' | 'expires_at'>, now: number): boolean {
  return ended_at === null && Date.parse(expires_at) > now
}

function runEnded(): BrokerError {
  return new BrokerError('AuthenticationFailedError', 'The run that signed has ended', {
    hint: 'Start the command again with `broker run`.',
  })
}

const runById = preparedQuery(['id'], (db, { id }: Pick<RunRow, 'id'>) =>
  db.selectFrom('runs').selectAll().where('id', '=', id),
)
