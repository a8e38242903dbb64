import { randomUUID } from 'node:crypto'
import { BrokerError } from '../../protocol/index.ts'
import type {
  AuditCounts,
  AuditCountsQuery,
  AuditPage,
  AuditQuery,
  LogExamination,
  ShippedEvent,
} from '../../schemas/index.ts'
import type { Db, Store } from '../store/index.ts'
import { appendRows, type NewRow } from './append-rows.ts'
import { addUpTotals, readCounts } from './audit-hours.ts'
import { type AuditRoots, openAuditRoots, type RootMac } from './audit-roots.ts'
import { type ExamineOptions, examineLog } from './examine-log.ts'
import { GroupCommit } from './group-commit.ts'
import type { AuditActor, EventDetails, InternalEvent } from './internal-event.ts'
import { type Journal, openFileJournal } from './journal.ts'
import { writeBeside, writeHere } from './log-writer.ts'
import { readHead, readPage, readPrincipal } from './read-log.ts'
import type { Scope } from './scope.ts'
import { verifyLog } from './verify-log.ts'

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
  /** Walks the whole log, or what came since a time, and tells what was done to it outside of Broker. */
  examine(options: ExamineOptions): Promise<LogExamination>
  /** Returns the number of the newest signature; 0 where there is none. Those up to it stay under the key they were made with. */
  newestRoot(tx: Db): Promise<number>
  /** Once a minute signs how far the log has come; until what it returns is called. */
  keepUp(): () => void
  /** Stores what was written ahead, and signs how far the log has come. */
  close(): Promise<void>
}

export interface AuditOptions {
  readonly now?: () => number
  /** A private folder of this daemon alone; the store is written to at once where absent. */
  readonly journalFolder?: string
  /** A MAC by a key of the deployment, hex; undefined while that is not at hand. Nothing is signed without. */
  readonly mac?: RootMac
  /** Whether many rows at once are stored on a thread of their own, where the store is a file. */
  readonly withThread?: boolean
  /** Whether that key is still the deployment's. */
  readonly isCurrent?: (db: Db) => Promise<boolean>
  /** Told of what could not be stored now, and is tried again. */
  readonly onFailure?: (error: unknown) => void
}

// What a proxy says of the time is believed within this: an outage may last, a clock may be wrong.
const BACKDATED_MS = 24 * 60 * 60 * 1000

export function openAudit(store: Store, options: AuditOptions = {}): Audit {
  const { now = Date.now, mac = () => undefined, isCurrent = async () => true, onFailure = () => undefined } = options
  const roots = openAuditRoots(store, mac, isCurrent)
  const writer = options.withThread && store.beside ? writeBeside(store, store.beside) : writeHere(store)
  const group = new GroupCommit(writer)
  // Beside what requests wait for: that is of other chains, most of the time.
  const shipped = new GroupCommit(writer)
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
    examine: (given) => read(() => examineLog(store, mac, given)),
    newestRoot: (tx) => roots.newest(tx),
    keepUp() {
      const timer = setInterval(() => void keepUp(store, roots).catch(onFailure), KEEP_UP_EVERY_MS).unref()
      return () => clearInterval(timer)
    },
    async close() {
      await journal.close()
      await writer.close()
      // What came since the last minute is vouched for while nobody is here.
      await roots.sign({ atOnce: true }).catch(onFailure)
    },
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
    id: eventId(now),
    timestamp: new Date(now).toISOString(),
    source: 'internal',
    run_id: event.runId ?? actor.run?.id ?? null,
    request: event.request ? JSON.stringify(event.request) : null,
    details: event.details ? JSON.stringify(event.details) : null,
  }
}

/** A UUID of version 7 (RFC 9562): an index whose next entry lands beside the last stays quick. */
function eventId(now: number): string {
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

function externalRow(actor: AuditActor, event: ShippedEvent, place: string, now: number): NewRow {
  return {
    ...commonColumns(actor, event),
    // Two senders may choose one id, and two principals one handle: what is stored is theirs together with who they are.
    // Not as a hash: a run counts its ids up, and they stay beside each other in the index.
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
