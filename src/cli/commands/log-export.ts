import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient } from '../../client/index.ts'
import { exporterFor } from '../../export/index.ts'
import { type AuditEventName, BrokerError, type ExportFormat } from '../../protocol/index.ts'
import type { AuditEvent, AuditQuery } from '../../schemas/index.ts'
import { type Interruption, interruption } from '../interruption.ts'
import type { Invocation } from '../invocation.ts'
import { providerNamed } from '../named.ts'
import { asAgent } from '../session.ts'

export interface LogExportOptions {
  readonly format: ExportFormat
  readonly follow?: boolean
  readonly after?: number
  readonly event?: AuditEventName
  readonly provider?: string
  readonly since?: string
}

/** The server's maximum for one page. */
const PAGE = 500
const LOOK_AGAIN_MS = 1_000
/** On Postgres an event may come behind one with a higher number: so far back is looked again. */
const OVERLAP = 1_000

/** Writes events oldest first, and with `follow` those that come, until it is stopped. */
export async function exportLog(invocation: Invocation, options: LogExportOptions): Promise<void> {
  const { output, version } = invocation
  const exporter = exporterFor(options.format, version)
  if (exporter.head) output.text(exporter.head)
  await asAgent(invocation, async (client) => {
    for await (const events of pages(client, options)) output.text(exporter.text(events))
  })
}

async function* pages(client: DaemonClient, options: LogExportOptions): AsyncGenerator<readonly AuditEvent[]> {
  const { after: first = 0, follow = false } = options
  const query = queryOf(options)
  const told = new Set<string>()
  let newest = first
  const waiting = follow ? interruption() : undefined
  try {
    do {
      for (let after = Math.max(first, newest - OVERLAP); ; ) {
        const events = await pageAfter(client, { ...query, after }, waiting)
        const fresh = events.filter(({ id }) => !told.has(id))
        if (fresh.length > 0) yield fresh
        remember(told, fresh)
        after = events.at(-1)?.seq ?? after
        newest = Math.max(newest, after)
        if (events.length < PAGE) break
      }
    } while (waiting && (await passed(waiting)))
  } finally {
    waiting?.stop()
  }
}

/** Of whoever follows the log: a daemon that is away comes back. */
async function pageAfter(
  client: DaemonClient,
  query: AuditQuery,
  waiting: Interruption | undefined,
): Promise<readonly AuditEvent[]> {
  for (;;) {
    try {
      return (await client.auditEvents({ ...query, limit: PAGE })).events
    } catch (error) {
      const isAway = error instanceof BrokerError && error.name === 'DaemonUnavailableError'
      if (!isAway || !waiting) throw error
      if (!(await passed(waiting))) return []
    }
  }
}

function remember(told: Set<string>, events: readonly AuditEvent[]): void {
  for (const { id } of events) told.add(id)
  for (const id of told) {
    if (told.size <= 2 * OVERLAP) return
    told.delete(id)
  }
}

/** Whether it shall look again. */
function passed({ signal }: Interruption): Promise<boolean> {
  return delay(LOOK_AGAIN_MS, true, { signal }).catch(() => false)
}

function queryOf({ event, provider, since }: LogExportOptions): AuditQuery {
  return {
    ...(event && { event }),
    ...(provider && { provider: providerNamed(provider) }),
    ...(since && { since }),
  }
}
