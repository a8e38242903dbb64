import type { DaemonClient } from '../../client/index.ts'
import { listIdentities } from '../../config/index.ts'
import { type AuditEventName, type AuditStatus, nearestWord } from '../../protocol/index.ts'
import type { AuditEvent, AuditQuery } from '../../schemas/index.ts'
import { day } from '../day.ts'
import type { Invocation } from '../invocation.ts'
import { lastLines } from '../log-lines.ts'
import { agentNamed, providerNamed } from '../named.ts'
import { asAgent } from '../session.ts'

export interface LogOptions {
  readonly count: number
  readonly raw?: boolean
  readonly event?: AuditEventName
  readonly provider?: string
  readonly identity?: string
  readonly status?: AuditStatus
  readonly since?: string
  readonly until?: string
}

/** The server's maximum for one page. */
const PAGE = 500

export async function log(invocation: Invocation, options: LogOptions): Promise<void> {
  if (options.raw) return printDebugLog(invocation, options.count)
  const { output } = invocation
  const query = queryOf(options)
  const { events, meant } = await asAgent(invocation, async (client) => {
    const events = await newest(client, query, options.count)
    return { events, meant: events.length > 0 ? [] : await meantBy(invocation, client, query) }
  })
  output.result(events, () => {
    if (events.length === 0) {
      output.note(nothingFound(query))
      for (const word of meant) output.note(`Did you mean ${word}?`)
      return
    }
    output.table(['TIME', 'EVENT', 'PROVIDER', 'CONNECTION', 'AGENT', 'STATUS', 'WHAT'], events.map(rowOf), {
      below: 'WHAT',
      shorten: ['AGENT', 'CONNECTION', 'PROVIDER', 'EVENT'],
    })
  })
}

function nothingFound(query: AuditQuery): string {
  const filters = Object.entries(query).map(
    ([name, value]) => `${name} ${TIMES.has(name) ? day(String(value)) : value}`,
  )
  return filters.length === 0 ? 'Nothing was recorded yet.' : `Nothing that was recorded fits: ${filters.join(', ')}.`
}

/** Returns what a filter was probably meant to be: what is gone has its events too, and is no mistake. */
async function meantBy(
  { config }: Invocation,
  client: DaemonClient,
  { provider, identity }: AuditQuery,
): Promise<readonly string[]> {
  const { bundled, custom } = await client.providers()
  const names = [...bundled, ...custom].map(({ name }) => name)
  const agents = listIdentities(config.paths)
  return [
    ...(provider === undefined || names.includes(provider) ? [] : [nearestWord(provider, names)]),
    ...(identity === undefined || agents.includes(identity) ? [] : [nearestWord(identity, agents)]),
  ].filter((word) => word !== undefined)
}

const TIMES: ReadonlySet<string> = new Set(['since', 'until'])

function queryOf({ event, provider, identity, status, since, until }: LogOptions): AuditQuery {
  return {
    ...(event && { event }),
    ...(provider && { provider: providerNamed(provider) }),
    ...(identity && { identity: agentNamed(identity) }),
    ...(status && { status }),
    ...(since && { since }),
    ...(until && { until }),
  }
}

async function newest(client: DaemonClient, query: AuditQuery, count: number): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(PAGE, count - events.length)
    const page = await client.auditEvents({ ...query, limit, ...(cursor !== undefined && { cursor }) })
    events.push(...page.events)
    cursor = page.next_cursor
  } while (cursor !== undefined && events.length < count)
  return events.slice(0, count)
}

function rowOf({ timestamp, event, provider, connection, identity, status, ...about }: AuditEvent) {
  const { dialled, overrides, reason, request } = about
  const asked = request && `${request.method} ${request.host}${request.path} ${request.status ?? ''}`.trim()
  const where = dialled === undefined ? asked : `${asked} (at ${dialled})`
  const own = overrides && `with ${Object.keys(overrides).join(', ')} of its own`
  const what = [where, reason, own].filter((text) => text !== undefined).join(': ')
  return [day(timestamp), event, provider, connection, identity, status, what]
}

// A line may be cut off where two commands wrote at once.
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return { unreadable: true }
  }
}

/** Returns what this client did, one JSON object a line, newest last. */
function printDebugLog({ config, output }: Invocation, count: number): void {
  const { lines } = lastLines(config.paths.clientLog, count)
  output.result(lines.map(parsed), () => {
    for (const line of lines) output.line(line)
  })
}
