import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Actor, AuditEventName, AuditStatus } from '../../protocol/index.ts'
import type {
  AuditCounts,
  AuditCountsQuery,
  AuditEvent,
  AuditPage,
  AuditQuery,
  ShippedEvent,
} from '../../schemas/index.ts'
import type { AuditEventRow, Db, Store } from '../store/index.ts'
import { countHours, readCounts, readSpan } from './audit-hours.ts'
import { chainedHash } from './chain.ts'
import { parseCursor, printCursor } from './cursor.ts'
import { openFileJournal } from './journal.ts'
import type { Scope } from './scope.ts'
import { openStoreJournal } from './store-journal.ts'

/** What a room says of an act; who acted comes from the actor. */
export interface InternalEvent {
  readonly event: Exclude<AuditEventName, 'proxy.request' | 'proxy.denied'>
  readonly status: AuditStatus
  readonly provider?: string
  readonly connection?: string
  /** One sentence for people: never a secret, never anything that came from a provider. */
  readonly reason?: string
  readonly runId?: string
  /** Where a credential went, as far as a record of it may say. */
  readonly request?: AuditEvent['request']
  readonly details?: EventDetails
}

/** Members that events of some kinds have beside those of all: never a secret. */
type EventDetails = Pick<AuditEvent, DetailName>
type DetailName = 'release' | 'count' | 'how' | 'from' | 'to' | 'isolation' | 'overrides' | 'dialled'

/** Who an event is told of: an {@link Actor}, or one in the making. */
export type AuditActor = Pick<Actor, 'identity' | 'principalId'> & {
  /** Whose agent acted, where the vault is another's. */
  readonly agentPrincipalId?: string
  readonly run?: Pick<NonNullable<Actor['run']>, 'id'>
}

export interface Audit {
  /** Writes an internal event in the transaction of the act it tells of: both happen, or neither. */
  record(tx: Db, actor: AuditActor, event: InternalEvent): Promise<void>
  /**
   * Writes an event before the act it tells of, where that changes nothing in the store. No kill of a process can lose it
   * then; a power cut may cost the last 50 ms. Whoever reads the log finds it at once.
   * @throws BrokerError DaemonUnavailableError where it cannot be written: the act must not happen
   */
  recordAhead(actor: AuditActor, event: InternalEvent): Promise<void>
  /**
   * Stores what a proxy shipped. Events that were stored before are left out, so that a batch may be sent again;
   * `batch` stands for events that bring no id.
   */
  append(actor: AuditActor, events: readonly ShippedEvent[], batch: string): Promise<void>
  /** Newest first. @throws BrokerError InvalidRequestError for a cursor that is none. */
  page(scope: Scope, query: AuditQuery): Promise<AuditPage>
  /** By hour; `since` and `until` are taken to the hour they are in. */
  counts(scope: Scope, query: AuditCountsQuery): Promise<AuditCounts>
  /** Whose an internal event was, by its reason, among the newest of its name; undefined where there is none. */
  principalOf(event: InternalEvent['event'], reason: string): Promise<string | undefined>
  /** The number of the newest event that may be seen: changes with every one. */
  head(scope: Scope): Promise<number>
  /** Holds the newest `rows` events against their hash chain. Undefined where it holds, else a sentence for people. */
  verify(rows: number): Promise<string | undefined>
  /** Stores what was written ahead. */
  close(): Promise<void>
}

export interface AuditOptions {
  readonly now?: () => number
  /** A private folder of this daemon alone; the store is written to at once where absent. */
  readonly journalFolder?: string
  /** Told of what could not be stored now, and is tried again. */
  readonly onFailure?: (error: unknown) => void
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 500
// What a proxy says of the time is believed within this: an outage may last, a clock may be wrong.
const BACKDATED_MS = 24 * 60 * 60 * 1000

/**
 * A proxy under load ships hundreds of events, and requests wait for their credentials meanwhile: they get their turn in
 * between. A batch that ends half-way is sent again, and what is there is left out.
 */
const ROWS_AT_ONCE = 50

export function openAudit(store: Store, options: AuditOptions = {}): Audit {
  const { now = Date.now, journalFolder, onFailure = () => undefined } = options
  const storeAll = async (rows: readonly NewRow[]) => {
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
      if (at > 0) await setImmediate()
      await store.transaction((tx) => insert(tx, rows.slice(at, at + ROWS_AT_ONCE)))
    }
  }
  const journal =
    journalFolder === undefined
      ? openStoreJournal(storeAll)
      : openFileJournal({ folder: journalFolder, store: storeAll, onFailure })
  const read = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    await journal.drained()
    return ask()
  }
  return {
    async record(tx, actor, event) {
      await insert(tx, [internalRow(actor, event, now())])
    },
    recordAhead: (actor, event) => journal.write(internalRow(actor, event, now())),
    async append(actor, events, batch) {
      const rows = events.map((event, index) => externalRow(actor, event, `${batch}/${index}`, now()))
      // What became of a request stands behind the release that it was made with.
      await journal.drained()
      await storeAll(rows)
    },
    page: (scope, query) => read(() => readPage(store.db, scope, query)),
    counts: (scope, query) => read(() => readCounts(store.db, scope, query)),
    principalOf: (event, reason) => readPrincipal(store.db, event, reason),
    head: (scope) => read(() => readHead(store.db, scope)),
    verify: (rows) => verifyTail(store, rows),
    close: () => journal.close(),
  }
}

type NewRow = Omit<AuditEventRow, 'seq' | 'hash'>

function internalRow(actor: AuditActor, event: InternalEvent, now: number): NewRow {
  return {
    ...commonColumns(actor, event),
    id: randomBytes(16).toString('base64url'),
    timestamp: new Date(now).toISOString(),
    source: 'internal',
    run_id: event.runId ?? actor.run?.id ?? null,
    request: event.request ? JSON.stringify(event.request) : null,
    details: event.details ? JSON.stringify(event.details) : null,
  }
}

function externalRow(actor: AuditActor, event: ShippedEvent, place: string, now: number): NewRow {
  return {
    ...commonColumns(actor, event),
    // Two senders may choose one id, and two principals one handle: what is stored is theirs together with who they are.
    // Not as a hash: a run counts its ids up, and an index whose next entry lands beside the last stays quick.
    id: `${actor.principalId}/${actor.identity}:${event.id ?? place}`,
    timestamp: believableTime(event.timestamp, now),
    source: 'external',
    run_id: actor.run?.id ?? event.run_id ?? null,
    request: event.request ? JSON.stringify({ ...event.request, path: withoutQuery(event.request.path) }) : null,
    details: detailsOf(event),
  }
}

function detailsOf({ release, dialled }: ShippedEvent): string | null {
  if (release === undefined && dialled === undefined) return null
  return JSON.stringify({ ...(release !== undefined && { release }), ...(dialled !== undefined && { dialled }) })
}

function commonColumns(actor: AuditActor, event: InternalEvent | ShippedEvent) {
  return {
    event: event.event,
    provider: event.provider ?? null,
    connection: event.connection ?? null,
    identity: actor.identity,
    principal_id: actor.principalId,
    agent_principal_id: agentPrincipalOf(actor),
    status: event.status,
    reason: event.reason ?? null,
  }
}

function agentPrincipalOf({ principalId, agentPrincipalId = principalId }: AuditActor): string | null {
  return agentPrincipalId === principalId ? null : agentPrincipalId
}

function believableTime(claimed: string | undefined, now: number): string {
  const time = claimed === undefined ? now : Date.parse(claimed)
  return new Date(Math.min(Math.max(time, now - BACKDATED_MS), now)).toISOString()
}

function withoutQuery(path: string): string {
  return path.replace(/[?#].*$/s, '')
}

async function insert(tx: Db, rows: readonly NewRow[]): Promise<void> {
  // Counting up takes the head's lock: no other writer can number events until this transaction ends.
  const { seq, hash } = await tx
    .updateTable('audit_head')
    .set((eb) => ({ seq: eb('seq', '+', 0) }))
    .where('id', '=', 1)
    .returningAll()
    .executeTakeFirstOrThrow()
  const fresh = await withoutStored(tx, rows.map(storable))
  const chained = chain(fresh, { seq, hash })
  const last = chained.at(-1)
  if (!last) return
  await tx.insertInto('audit_events').values(chained).execute()
  await countHours(tx, chained)
  await tx.updateTable('audit_head').set({ seq: last.seq, hash: last.hash }).where('id', '=', 1).execute()
}

/** With texts that every database gives back as they are: the chain is over what will be read. */
function storable(row: NewRow): NewRow {
  return {
    ...row,
    reason: row.reason && wellFormed(row.reason),
    run_id: row.run_id && wellFormed(row.run_id),
    request: row.request && wellFormed(row.request),
    details: row.details && wellFormed(row.details),
  }
}

/** Half a character is none, and Postgres holds no NUL. */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

async function withoutStored(tx: Db, rows: readonly NewRow[]): Promise<readonly NewRow[]> {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const stored = await tx
    .selectFrom('audit_events')
    .select('id')
    .where('id', 'in', [...byId.keys()])
    .execute()
  for (const { id } of stored) byId.delete(id)
  return [...byId.values()]
}

function chain(rows: readonly NewRow[], head: { seq: number; hash: string }): AuditEventRow[] {
  let { seq, hash } = head
  return rows.map((row) => {
    seq += 1
    hash = chainedHash(hash, { ...row, seq })
    return { ...row, seq, hash }
  })
}

async function readPage(db: Db, scope: Scope, query: AuditQuery): Promise<AuditPage> {
  const limit = Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT)
  const before = query.cursor === undefined ? undefined : parseCursor(query.cursor)
  const span = isNarrow(query) ? await readSpan(db, scope, query) : undefined
  if (isNarrow(query) && !span) return { events: [] }
  let select = db
    .selectFrom('audit_events')
    .selectAll()
    .orderBy('seq', 'desc')
    .limit(limit + 1)
  if (span) select = select.where('seq', '>=', span.first).where('seq', '<=', span.last)
  if (before !== undefined) select = select.where('seq', '<', before)
  for (const column of ['event', 'provider', 'identity', 'status'] as const) {
    const value = query[column]
    if (value !== undefined) select = select.where(column, '=', value)
  }
  if (query.since !== undefined) select = select.where('timestamp', '>=', new Date(query.since).toISOString())
  if (query.until !== undefined) select = select.where('timestamp', '<=', new Date(query.until).toISOString())
  const found = await Promise.all(
    scope.kind === 'all'
      ? [select.execute()]
      : PRINCIPALS.map((column) => select.where(column, '=', scope.principalId).execute()),
  )
  const rows = found.flat().sort((one, other) => other.seq - one.seq)
  const events = rows.slice(0, limit).map(eventOf)
  const last = events.at(-1)
  return rows.length > limit && last ? { events, next_cursor: printCursor(last.seq) } : { events }
}

/**
 * Whose an event is: of the vault's owner, and of the agent's where that is another; then it is in both columns but not
 * twice. Asked one by one: no index gives the newest of either.
 */
const PRINCIPALS = ['principal_id', 'agent_principal_id'] as const

/**
 * Returns whether the events may be few among many that no index tells apart: then the hours tell first where in the log they are,
 * so that not all of it is read for them.
 */
function isNarrow({ since, until, event, provider, status }: AuditQuery): boolean {
  const filters = [event, provider, status].filter((value) => value !== undefined)
  return since !== undefined || until !== undefined || filters.length > 1
}

/** What is looked through for a reason, which no index has. */
const NEWEST_OF_A_NAME = 1_000

async function readPrincipal(db: Db, event: InternalEvent['event'], reason: string): Promise<string | undefined> {
  const newest = db
    .selectFrom('audit_events')
    .select(['principal_id', 'reason', 'source', 'seq'])
    .where('event', '=', event)
    .orderBy('seq', 'desc')
    .limit(NEWEST_OF_A_NAME)
  const found = await db
    .selectFrom(newest.as('newest'))
    .select('principal_id')
    .where('reason', '=', reason)
    .where('source', '=', 'internal')
    .limit(1)
    .executeTakeFirst()
  return found?.principal_id
}

async function readHead(db: Db, scope: Scope): Promise<number> {
  if (scope.kind === 'all') {
    return (await db.selectFrom('audit_head').select('seq').executeTakeFirst())?.seq ?? 0
  }
  const newest = (column: (typeof PRINCIPALS)[number]) =>
    db
      .selectFrom('audit_events')
      .select('seq')
      .where(column, '=', scope.principalId)
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()
  const found = await Promise.all(PRINCIPALS.map(newest))
  return Math.max(...found.map((row) => row?.seq ?? 0))
}

function eventOf({ hash, request, details, agent_principal_id, ...row }: AuditEventRow): AuditEvent {
  const present = Object.entries(row).filter(([, value]) => value !== null)
  // The columns were written from these very types.
  return {
    ...(Object.fromEntries(present) as unknown as AuditEvent),
    ...(request !== null && { request: JSON.parse(request) }),
    ...(details !== null && (JSON.parse(details) as EventDetails)),
  }
}

async function verifyTail(store: Store, count: number): Promise<string | undefined> {
  const { rows, head } = await store.snapshot(async (tx) => ({
    rows: await tx
      .selectFrom('audit_events')
      .selectAll()
      .orderBy('seq', 'desc')
      .limit(count + 1)
      .execute(),
    head: await tx.selectFrom('audit_head').selectAll().executeTakeFirst(),
  }))
  const newest = rows[0]
  if (!head || head.seq !== (newest?.seq ?? 0) || head.hash !== (newest?.hash ?? '')) {
    return 'The newest audit events were removed or changed outside of Broker.'
  }
  const broken = rows.slice(0, count).find((row, index) => !follows(row, rows[index + 1]))
  return broken && `The audit log was changed outside of Broker at event ${broken.seq}.`
}

function follows(row: AuditEventRow, before: AuditEventRow | undefined): boolean {
  if (!before && row.seq !== 1) return false
  if (before && before.seq !== row.seq - 1) return false
  const { hash, ...rest } = row
  return chainedHash(before?.hash ?? '', rest) === hash
}
