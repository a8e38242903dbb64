import { useCallback, useId, useMemo, useState } from 'react'
import type { AuditEvent, Connection, Identity, Me } from '../../schemas/index.ts'
import { goTo, useAddress, useTyped, withQuery } from '../address.ts'
import { addressOf, daemonNow } from '../daemon.ts'
import { Badge } from '../parts/badge.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Link } from '../parts/link.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { usePrinting } from '../parts/printing.ts'
import { type Column, Rows } from '../parts/rows.tsx'
import { Said } from '../parts/said.tsx'
import { exactTime, When } from '../parts/when.tsx'
import { type Filters, given, useAgents, useConnections, useEmails, useEvents } from '../questions.ts'
import { aboutEvent, accountOf, agentLabel, eventWord, eventWords, plural, statusWords, whoDid } from '../words.ts'
import { HOUR, Pictures } from './pictures.tsx'

const SPANS = [
  { hours: 24, text: 'the last 24 hours' },
  { hours: 24 * 7, text: 'the last 7 days' },
  { hours: 24 * 30, text: 'the last 30 days' },
] as const

const NAMES = ['event', 'provider', 'identity', 'status'] as const

export function AuditPage({ me }: { readonly me: Me }) {
  const address = useAddress()
  const [chosen, setChosen] = useState<AuditEvent | undefined>()
  const hours = Number(address.searchParams.get('hours') ?? 0)
  const filters = useFilters(address, hours)
  const events = useEvents(filters)
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = events
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const isFiltered = Object.values(filters).some((value) => value !== '')
  const isPrinting = usePrinting()
  const print = usePrintAll(events)
  const agents = useAgents().data
  const emails = useEmails(me)
  const connections = useConnections().data
  const columns = useMemo(
    () => columnsFor({ me, emails, agents: agents ?? [], connections: connections ?? [], choose: setChosen }),
    [me, emails, agents, connections],
  )
  return (
    <Page
      title="Audit"
      about={
        me.role === 'admin' ? 'What happened, for everybody here.' : 'What happened with your agents and connections.'
      }
      actions={
        <>
          <button type="button" className="button quiet" disabled={print.isBusy} onClick={() => void print.begin()}>
            {print.isBusy ? 'Getting the events…' : 'Print'}
          </button>
          <a className="button quiet" href={exportOf(filters, 'jsonl')} download>
            Export JSON Lines
          </a>
          <a className="button quiet" href={exportOf(filters, 'csv')} download>
            Export CSV
          </a>
        </>
      }
    >
      <Pictures
        title={`${filters['event'] === '' ? 'Requests' : 'Events'} in ${spanText(hours || 24)}`}
        hours={hours || 24}
        filters={filters}
      />
      <AuditFilters address={address} hours={hours} />
      <Answered question={events}>
        {({ pages }) => {
          const all = pages.flatMap((page) => page.events)
          if (all.length === 0) {
            return (
              <Empty title={isFiltered ? 'No events like these' : 'Nothing happened yet'}>
                <p>What agents do with your connections is written down here, as it happens.</p>
                {isFiltered && <Link to="/audit">Show all events</Link>}
              </Empty>
            )
          }
          return (
            <>
              <p className="soft tally" role="status">
                {hasNextPage
                  ? `The newest ${plural(all.length, 'event')}${isPrinting ? '' : '; more come as you scroll'}`
                  : plural(all.length, 'event')}
                {isPrinting && isFiltered && ` with ${filterText(filters)}`}
              </p>
              <Rows caption="Events" columns={columns} items={all} keyOf={({ id }) => id} onEnd={onEnd} />
            </>
          )
        }}
      </Answered>
      {chosen && <EventDialog event={chosen} onClose={() => setChosen(undefined)} />}
    </Page>
  )
}

/** More than these are a matter for the export. */
const MOST_PRINTED = 5_000

/** Paper does not scroll: what the list would fetch on the way is fetched first. */
function usePrintAll({ data, hasNextPage, fetchNextPage }: ReturnType<typeof useEvents>) {
  const [isBusy, setBusy] = useState(false)
  const begin = async () => {
    setBusy(true)
    let result = { data, hasNextPage }
    while (result.hasNextPage && countOf(result.data) < MOST_PRINTED) result = await fetchNextPage()
    setBusy(false)
    // What came last is drawn first.
    setTimeout(() => window.print())
  }
  return { isBusy, begin }
}

function countOf(data: ReturnType<typeof useEvents>['data']): number {
  return (data?.pages ?? []).reduce((sum, { events }) => sum + events.length, 0)
}

function filterText(filters: Filters): string {
  return Object.entries(filters)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name} ${name === 'since' ? exactTime(value) : value}`)
    .join(', ')
}

function spanText(hours: number): string {
  return SPANS.find((span) => span.hours === hours)?.text ?? `the last ${plural(hours, 'hour')}`
}

/** To the hour, so that the question stays the same while the page is looked at. What cannot be a name asks for nothing. */
function useFilters(address: URL, hours: number): Filters {
  const query = address.search
  return useMemo(() => {
    const values = new URLSearchParams(query)
    const since = hours > 0 ? new Date(Math.ceil(daemonNow() / HOUR) * HOUR - hours * HOUR).toISOString() : ''
    return { ...Object.fromEntries(NAMES.map((name) => [name, goodValue(name, values.get(name) ?? '')])), since }
  }, [query, hours])
}

/** As the daemon takes them; it refuses others. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  provider: /^[a-z0-9][a-z0-9._-]{0,63}$/,
  identity: /^(?:[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?|\((?:browser|daemon)\))$/,
}

function isGood(name: string, value: string): boolean {
  return value === '' || (PATTERNS[name]?.test(value) ?? true)
}

function goodValue(name: string, value: string): string {
  return isGood(name, value) ? value : ''
}

function AuditFilters({ address, hours }: { readonly address: URL; readonly hours: number }) {
  const value = (name: string) => address.searchParams.get(name) ?? ''
  const set = (name: string, text: string) => goTo(withQuery(address, { [name]: text }), 'replace')
  const connections = useConnections()
  const agents = useAgents()
  const providers = [...new Set(connections.data?.map(({ provider }) => provider))]
  return (
    <search className="filters">
      <label>
        <span>Event</span>
        <select value={value('event')} onChange={({ target }) => set('event', target.value)}>
          <option value="">any</option>
          {Object.entries(eventWords).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <NameFilter label="Provider" name="provider" known={providers} />
      <NameFilter
        label="Agent"
        name="identity"
        known={[...(agents.data ?? []).map(({ identity }) => identity), '(browser)', '(daemon)']}
      />
      <label>
        <span>Outcome</span>
        <select value={value('status')} onChange={({ target }) => set('status', target.value)}>
          <option value="">any</option>
          {Object.entries(statusWords).map(([name, { text }]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Time</span>
        <select value={String(hours)} onChange={({ target }) => set('hours', target.value === '0' ? '' : target.value)}>
          <option value="0">any</option>
          {SPANS.map(({ hours: one, text }) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </search>
  )
}

interface NameFilterProps {
  readonly label: string
  readonly name: 'provider' | 'identity'
  readonly known: readonly string[]
}

/** Exact names, with those that there are to choose from. */
function NameFilter({ label, name, known }: NameFilterProps) {
  const id = useId()
  const [text, setText] = useTyped(name, (typed) => isGood(name, typed))
  const isWrong = !isGood(name, text)
  return (
    <div className="filter">
      <label htmlFor={id}>
        <span>{label}</span>
      </label>
      <input
        id={id}
        type="search"
        list={`${id}-known`}
        value={text}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? `${id}-wrong` : undefined}
        autoCapitalize="off"
        spellCheck={false}
        onChange={({ target }) => setText(target.value.trim().toLowerCase())}
      />
      <datalist id={`${id}-known`}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {isWrong && (
        <p className="wrong" id={`${id}-wrong`}>
          not a whole name yet
        </p>
      )}
    </div>
  )
}

interface ColumnsOptions {
  readonly me: Me
  /** By principal. */
  readonly emails: ReadonlyMap<string, string>
  readonly agents: readonly Identity[]
  readonly connections: readonly Connection[]
  readonly choose: (event: AuditEvent) => void
}

function columnsFor({ me, emails, agents, connections, choose }: ColumnsOptions): readonly Column<AuditEvent>[] {
  return [
    { title: 'When', cell: ({ timestamp }) => <When at={timestamp} /> },
    {
      title: 'What',
      cell: (one) => (
        <>
          <button type="button" className="as-link strong" onClick={() => choose(one)}>
            {eventWord(one.event)}
          </button>
          <About event={one} />
        </>
      ),
    },
    {
      title: 'Provider',
      cell: (one) => (
        <>
          {one.provider ?? <span className="soft">–</span>}
          {one.connection !== undefined && <small className="soft">{one.connection}</small>}
          <AccountOf event={one} {...{ me, connections }} />
        </>
      ),
    },
    { title: 'Who', cell: (one) => <Who event={one} {...{ me, emails, agents }} /> },
    {
      title: 'Outcome',
      cell: ({ status, request }) => (
        <>
          <Badge tone={statusWords[status].tone}>{statusWords[status].text}</Badge>
          {request?.status !== undefined && <small className="soft">{request.status}</small>}
        </>
      ),
    },
  ]
}

/** What an event is about: the request, why it was refused, the command of a run. */
function About({ event }: { readonly event: AuditEvent }) {
  return aboutEvent(event).map((text) => (
    <small key={text} className="soft path">
      <Said>{text}</Said>
    </small>
  ))
}

/** As which account a connection acts, where that is known. */
function AccountOf({
  event,
  me,
  connections,
}: { readonly event: AuditEvent } & Pick<ColumnsOptions, 'me' | 'connections'>) {
  const account = accountOf(event, me, connections)
  if (account === undefined) return null
  return (
    <small className="soft">
      <Said>{account}</Said>
    </small>
  )
}

/** What people call an agent, and what it signs as; of a browser, and of what is another's, whose it is. */
function Who({
  event,
  me,
  emails,
  agents,
}: { readonly event: AuditEvent } & Pick<ColumnsOptions, 'me' | 'emails' | 'agents'>) {
  const label = agentLabel(event, me, agents)
  const isOwnAgent = event.principal_id === me.principal_id && event.identity !== '(browser)'
  const email = isOwnAgent ? undefined : emails.get(event.principal_id)
  return (
    <>
      {label === undefined ? whoDid(event, me) : <Said>{label}</Said>}
      {label !== undefined && <small className="soft">{event.identity}</small>}
      {email !== undefined && (
        <small className="soft">
          <Said>{email}</Said>
        </small>
      )}
    </>
  )
}

const LINE_NAMES: Readonly<Record<string, string>> = {
  ca: 'own authorities',
  connect_to: 'own addresses',
  proxy: 'goes out through',
  seq: 'number',
  principal_id: 'principal',
  identity: 'who',
  run_id: 'run',
  duration_ms: 'milliseconds',
  bytes_in: 'bytes received',
  bytes_out: 'bytes sent',
}

function EventDialog({ event: one, onClose }: { readonly event: AuditEvent; readonly onClose: () => void }) {
  const { request: { status: answered, ...request } = {}, overrides, timestamp, event, ...rest } = one
  const own = { ...overrides, connect_to: overrides?.connect_to?.join(', ') }
  const lines = { time: exactTime(timestamp), event, ...rest, ...own, ...request, answered }
  return (
    <Dialog isOpen title={eventWord(event)} onClose={onClose} isWide>
      <dl>
        {Object.entries(lines)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <div key={name} className="line">
              <dt>{LINE_NAMES[name] ?? name}</dt>
              <dd>
                <Said>{String(value)}</Said>
              </dd>
            </div>
          ))}
      </dl>
    </Dialog>
  )
}

function exportOf(filters: Filters, format: 'jsonl' | 'csv'): string {
  return addressOf('GET /api/audit/export', { query: { ...given(filters), format } })
}
