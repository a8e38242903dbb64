import { randomUUID } from 'node:crypto'
import { type Actor, type AuditEventName, type AuditStatus, BrokerError } from '../../protocol/index.ts'
import type {
  AuditCounts,
  AuditCountsQuery,
  AuditEvent,
  AuditPage,
  AuditQuery,
  ShippedEvent,
} from '../../schemas/index.ts'
import type { AuditEventRow, Db, Store } from '../store/index.ts'
import { appendRows, type NewRow } from './append-rows.ts'
import { addUpTotals, readCounts, readSpan } from './audit-hours.ts'
import { type AuditRoots, openAuditRoots, type RootMac } from './audit-roots.ts'
import type { Dialect } from './chain-of.ts'
import { parseCursor, printCursor } from './cursor.ts'
import { GroupCommit } from './group-commit.ts'
import { type Journal, openFileJournal } from './journal.ts'
import type { Scope } from './scope.ts'
import { verifyLog } from './verify-log.ts'

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
type DetailName = 'received_at' | 'release' | 'count' | 'how' | 'from' | 'to' | 'isolation' | 'overrides' | 'dialled'

/** Who an event is told of: an {@link Actor}, or one in the making. */
export type AuditActor = Pick<Actor, 'identity' | 'principalId'> & {
  /** Whose agent acted, where the vault is another's. */
  readonly agentPrincipalId?: string
  readonly run?: Pick<NonNullable<Actor['run']>, 'id'> & Partial<NonNullable<Actor['run']>>
}

/** An event and whom it is told of. */
interface RecordedAct {
  readonly actor: AuditActor
  readonly event: InternalEvent
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
   * Stores internal events that are about no act in the store, of any actors; those of one moment share a transaction.
   * @param kept `flushed`: once the disk has them. `written`: at once, so that a power cut may cost those of the last 50 ms,
   *   and the end of any process none.
   */
  recordAll(acts: readonly RecordedAct[], kept: 'flushed' | 'written'): Promise<void>
  /**
   * Stores what a proxy shipped. Events that were stored before are left out, so that a batch may be sent again;
   * `batch` stands for events that bring no id.
   * @throws BrokerError InvalidRequestError for a request with what the sender's run was not granted; none is stored then
   */
  append(actor: AuditActor, events: readonly ShippedEvent[], batch: string): Promise<void>
  /** Newest first. @throws BrokerError InvalidRequestError for a cursor that is none. */
  page(scope: Scope, query: AuditQuery): Promise<AuditPage>
  /** By hour, or more of them where they would be too many; `since` and `until` are taken to the hour they are in. */
  counts(scope: Scope, query: AuditCountsQuery): Promise<AuditCounts>
  /** Whose an internal event was, by its reason, among the newest of its name; undefined where there is none. */
  principalOf(event: InternalEvent['event'], reason: string): Promise<string | undefined>
  /** The number of the newest event that may be seen: changes with every one. */
  head(scope: Scope): Promise<number>
  /**
   * Holds the newest `rows` events against their hash chains, and those against what was signed. Undefined where it holds,
   * else a sentence for people.
   */
  verify(rows: number): Promise<string | undefined>
  /** Returns the number of the newest signature; 0 where there is none. Those up to it stay under the key they were made with. */
  newestRoot(tx: Db): Promise<number>
  /** Once a minute signs how far the log has come; until what it returns is called. */
  keepUp(): () => void
  /** Stores what was written ahead. */
  close(): Promise<void>
}

export interface AuditOptions {
  readonly now?: () => number
  /** A private folder of this daemon alone; the store is written to at once where absent. */
  readonly journalFolder?: string
  /** A MAC by a key of the deployment, hex; undefined while that is not at hand. Nothing is signed without. */
  readonly mac?: RootMac
  /** Whether that key is still the deployment's. */
  readonly isCurrent?: (db: Db) => Promise<boolean>
  /** Told of what could not be stored now, and is tried again. */
  readonly onFailure?: (error: unknown) => void
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 500
// What a proxy says of the time is believed within this: an outage may last, a clock may be wrong.
const BACKDATED_MS = 24 * 60 * 60 * 1000

/**
 * Rows of one transaction. On SQLite, requests wait for their credentials while it is made, a few times over: few it is. On Postgres it holds up others
 * by its locks.
 */
const MOST_ROWS: Readonly<Record<Dialect, number>> = { sqlite: 16, postgres: 250 }

export function openAudit(store: Store, options: AuditOptions = {}): Audit {
  const { now = Date.now, mac = () => undefined, isCurrent = async () => true, onFailure = () => undefined } = options
  const roots = openAuditRoots(store, mac, isCurrent)
  const groups = () =>
    new GroupCommit({
      most: MOST_ROWS[store.dialect],
      store: (rows) => store.addition((tx) => appendRows(tx, store.dialect, rows)),
    })
  const group = groups()
  // Beside what requests wait for: that is of other chains, most of the time.
  const shipped = groups()
  const journal = journalFor(store, group, options)
  const read = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    await journal.drained()
    return ask()
  }
  return {
    async record(tx, actor, event) {
      await appendRows(tx, store.dialect, [internalRow(actor, event, now())])
    },
    async recordAll(acts, kept) {
      const rows = acts.map(({ actor, event }) => internalRow(actor, event, now()))
      await Promise.all([...byPrincipal(rows)].map(([principalId, own]) => group.add(principalId, own)))
      if (kept === 'flushed') await store.flushed()
    },
    recordAhead: (actor, event) => journal.write(internalRow(actor, event, now())),
    async append(actor, events, batch) {
      requireGranted(actor, events)
      const rows = events.map((event, index) => externalRow(actor, event, `${batch}/${index}`, now()))
      // What became of a request stands behind the release that it was made with.
      await journal.drained()
      await shipped.add(actor.principalId, rows)
      await store.flushed()
    },
    page: (scope, query) => read(() => readPage(store.db, scope, query)),
    counts: (scope, query) => read(() => readCounts(store.db, scope, query)),
    principalOf: (event, reason) => readPrincipal(store.db, event, reason),
    head: (scope) => read(() => readHead(store.db, scope)),
    verify: (rows) => verifyLog(store, roots, rows),
    newestRoot: (tx) => roots.newest(tx),
    keepUp() {
      const timer = setInterval(() => void keepUp(store, roots).catch(onFailure), KEEP_UP_EVERY_MS).unref()
      return () => clearInterval(timer)
    },
    close: () => journal.close(),
  }
}

const KEEP_UP_EVERY_MS = 60_000
/** What comes later than that is added up later. */
const ADD_UP_AFTER_MS = 2 * 60 * 60_000

async function keepUp(store: Store, roots: AuditRoots): Promise<void> {
  await roots.sign()
  // With one chain there is nothing to add up.
  if (store.dialect === 'sqlite') return
  await store.addition(async (tx) => {
    await addUpTotals(tx, new Date((await store.clock(tx)) - ADD_UP_AFTER_MS))
  })
}

/** In a file of this daemon; without one what waits together is one transaction of the log. */
function journalFor(
  store: Store,
  group: GroupCommit,
  { journalFolder, onFailure = () => undefined }: AuditOptions,
): Journal<NewRow> {
  if (journalFolder === undefined) {
    const nothing = async () => undefined
    return { write: async (row) => group.add(row.principal_id, [row]), drained: nothing, close: nothing }
  }
  return openFileJournal({
    folder: journalFolder,
    async store(rows) {
      await group.add('written ahead', rows)
      // The journal forgets them then.
      await store.flushed()
    },
    onFailure,
  })
}

function byPrincipal(rows: readonly NewRow[]): ReadonlyMap<string, readonly NewRow[]> {
  return Map.groupBy(rows, ({ principal_id }) => principal_id)
}

function internalRow(actor: AuditActor, event: InternalEvent, now: number): NewRow {
  return {
    ...commonColumns(actor, event),
    id: randomUUID(),
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
    details: detailsOf(event, now),
  }
}

/** The sender's clock may be wrong, or lie: what the daemon's own says stands beside it. */
function detailsOf({ release, dialled }: ShippedEvent, now: number): string {
  const details: EventDetails = {
    received_at: new Date(now).toISOString(),
    ...(release !== undefined && { release }),
    ...(dialled !== undefined && { dialled }),
  }
  return JSON.stringify(details)
}

function requireGranted({ run }: AuditActor, events: readonly ShippedEvent[]): void {
  if (run === undefined) return
  const { only, connections = {} } = run
  const isGranted = ({ event, provider, connection }: ShippedEvent) => {
    if (event !== 'proxy.request' || provider === undefined) return true
    const chosen = Object.hasOwn(connections, provider) ? connections[provider] : connection
    return (only?.includes(provider) ?? true) && (connection === undefined || connection === chosen)
  }
  const wrong = events.findIndex((event) => !isGranted(event))
  if (wrong < 0) return
  throw new BrokerError('InvalidRequestError', 'An event tells of a request with what the run was not granted', {
    details: [{ path: `events.${wrong}.provider`, message: 'is not granted to this run' }],
  })
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
    const newest = db.selectFrom('audit_head').select((eb) => eb.fn.max('seq').as('seq'))
    return (await newest.executeTakeFirst())?.seq ?? 0
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

function eventOf({ hash, chain, request, details, agent_principal_id, ...row }: AuditEventRow): AuditEvent {
  const present = Object.entries(row).filter(([, value]) => value !== null)
  // The columns were written from these very types.
  return {
    ...(Object.fromEntries(present) as unknown as AuditEvent),
    ...(request !== null && { request: JSON.parse(request) }),
    ...(details !== null && (JSON.parse(details) as EventDetails)),
  }
}
