import { randomUUID } from 'node:crypto'
import { type Actor, BrokerError, type RunGrant } from '../../protocol/index.ts'
import type { Run, StartRun } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import { type Db, preparedQuery, type RunRow, type Store } from '../store/index.ts'

/** The key of a run is in the memory of one process: its grant outlives long sessions, and is worthless without it. */
const LIFETIME_MS = 7 * 24 * 60 * 60 * 1000

interface RunsOptions {
  readonly store: Store
  readonly audit: Audit
}

export async function startRun(
  { store, audit }: RunsOptions,
  actor: Actor,
  wanted: StartRun,
  now: number,
): Promise<Run> {
  const id = randomUUID()
  const expires_at = new Date(now + LIFETIME_MS).toISOString()
  await store.transaction(async (tx) => {
    await refuseKnownKey(tx, wanted.did)
    const grants = grantsOf(wanted, await outerGrants(tx, actor, wanted.within, now))
    await tx
      .insertInto('runs')
      .values({
        id,
        did: wanted.did,
        handle: actor.identity,
        grants: JSON.stringify(grants),
        created_at: new Date(now).toISOString(),
        expires_at,
        ended_at: null,
      })
      .execute()
    await audit.record(tx, actor, {
      event: 'run.started',
      status: 'success',
      runId: id,
      ...(wanted.command && { reason: wanted.command }),
    })
  })
  return { run_id: id, expires_at }
}

type Grants = Omit<RunGrant, 'id'>

/** What the run that the new one is started in may do; undefined where there is none. */
async function outerGrants(db: Db, actor: Actor, id: string | undefined, now: number): Promise<Grants | undefined> {
  if (id === undefined) return undefined
  const row = await db
    .selectFrom('runs')
    .innerJoin('identities', 'identities.handle', 'runs.handle')
    .select(['runs.grants', 'runs.expires_at', 'runs.ended_at'])
    .where('runs.id', '=', id)
    .where('identities.principal_id', '=', actor.principalId)
    .executeTakeFirst()
  if (row && isLive(row, now)) return JSON.parse(row.grants) as Grants
  throw new BrokerError('OperationNotAllowedError', 'The run around this one has ended', {
    hint: 'Start the outer command again with `broker run`.',
  })
}

/** What was asked for, within what the outer run may do. @throws BrokerError OperationNotAllowedError where it is more. */
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
export async function endRun({ store, audit }: RunsOptions, actor: Actor, id: string, end: RunEnd): Promise<void> {
  if (actor.run !== undefined && actor.run.id !== id) throw noSuchRun()
  await store.transaction(async (tx) => {
    const run = await tx
      .selectFrom('runs')
      .select('ended_at')
      .where('id', '=', id)
      .where('handle', '=', actor.identity)
      .executeTakeFirst()
    if (!run) throw noSuchRun()
    if (run.ended_at !== null) return
    await tx
      .updateTable('runs')
      .set({ ended_at: new Date(end.now).toISOString() })
      .where('id', '=', id)
      .execute()
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

/** The identity as narrowed by the run whose key signed. @throws BrokerError AuthenticationFailedError */
export async function runActor(db: Db, identity: Actor, did: string, now: number): Promise<Actor> {
  const row = await runOf(db, { did, handle: identity.identity })
  if (!row)
    throw new BrokerError('AuthenticationFailedError', 'The signer is not a registered identity', {
      hint: 'Run `broker onboard`.',
    })
  if (!isLive(row, now)) throw runEnded()
  const grants = JSON.parse(row.grants) as Grants
  await requireOuterRuns(db, grants.within, now)
  return { ...identity, did, run: { id: row.id, ...grants } }
}

/** A run does not outlive those that it was started in. */
async function requireOuterRuns(db: Db, within: string | undefined, now: number): Promise<void> {
  for (let id = within; id !== undefined; ) {
    const row = await runById(db, { id })
    if (!row || !isLive(row, now)) throw runEnded()
    id = (JSON.parse(row.grants) as Grants).within
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

const runOf = preparedQuery(['did', 'handle'], (db, { did, handle }: Pick<RunRow, 'did' | 'handle'>) =>
  db
    .selectFrom('runs')
    .select(['id', 'grants', 'expires_at', 'ended_at'])
    .where('did', '=', did)
    .where('handle', '=', handle),
)

const runById = preparedQuery(['id'], (db, { id }: Pick<RunRow, 'id'>) =>
  db.selectFrom('runs').select(['grants', 'expires_at', 'ended_at']).where('id', '=', id),
)
