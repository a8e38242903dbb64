import { useCallback, useMemo, useState } from 'react'
import type { AuditEvent, Me } from '../../schemas/index.ts'
import { goTo, useAddress, withQuery } from '../address.ts'
import { Badge } from '../parts/badge.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { type Column, Rows } from '../parts/rows.tsx'
import { exactTime, When } from '../parts/when.tsx'
import { type Filters, queryText, useEvents } from '../questions.ts'
import { eventWords, plural, statusWords, whoDid } from '../words.ts'
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
  const columns = useMemo(() => columnsFor(setChosen), [])
  return (
    <Page
      title="Audit"
      about={
        me.role === 'admin' ? 'What happened, for everybody here.' : 'What happened with your agents and connections.'
      }
      actions={
        <>
          <a className="button quiet" href={`/api/audit/export?${queryText({ ...filters, format: 'jsonl' })}`} download>
            Export JSON Lines
          </a>
          <a className="button quiet" href={`/api/audit/export?${queryText({ ...filters, format: 'csv' })}`} download>
            Export CSV
          </a>
        </>
      }
    >
      <section className="card">
        <h2>Requests over time</h2>
        <Pictures hours={hours || 24} filters={filters} />
      </section>
      <AuditFilters address={address} hours={hours} />
      <Answered question={events}>
        {({ pages }) => {
          const all = pages.flatMap((page) => page.events)
          if (all.length === 0) {
            return (
              <Empty title="No events like these">
                <p>What agents do with your connections is written down here, as it happens.</p>
              </Empty>
            )
          }
          return (
            <>
              <p className="soft" role="status">
                {hasNextPage
                  ? `The newest ${plural(all.length, 'event')}; more come as you scroll`
                  : plural(all.length, 'event')}
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

/** To the hour, so that the question stays the same while the page is looked at. */
function useFilters(address: URL, hours: number): Filters {
  const query = address.search
  return useMemo(() => {
    const values = new URLSearchParams(query)
    const since = hours > 0 ? new Date(Math.ceil(Date.now() / HOUR) * HOUR - hours * HOUR).toISOString() : ''
    return { ...Object.fromEntries(NAMES.map((name) => [name, (values.get(name) ?? '').trim()])), since }
  }, [query, hours])
}

function AuditFilters({ address, hours }: { readonly address: URL; readonly hours: number }) {
  const value = (name: string) => address.searchParams.get(name) ?? ''
  const set = (name: string, text: string) => goTo(withQuery(address, { [name]: text }), 'replace')
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
      <label>
        <span>Provider</span>
        <input type="search" value={value('provider')} onChange={({ target }) => set('provider', target.value)} />
      </label>
      <label>
        <span>Agent</span>
        <input type="search" value={value('identity')} onChange={({ target }) => set('identity', target.value)} />
      </label>
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

function columnsFor(choose: (event: AuditEvent) => void): readonly Column<AuditEvent>[] {
  return [
    { title: 'When', cell: ({ timestamp }) => <When at={timestamp} /> },
    {
      title: 'What',
      cell: (one) => (
        <>
          <button type="button" className="as-link strong" onClick={() => choose(one)}>
            {eventWords[one.event]}
          </button>
          {one.request && (
            <small className="soft path">
              {one.request.method} {one.request.host}
              {one.request.path}
            </small>
          )}
        </>
      ),
    },
    {
      title: 'Provider',
      cell: ({ provider, connection }) => (
        <>
          {provider ?? <span className="soft">–</span>}
          {connection !== undefined && <small className="soft">{connection}</small>}
        </>
      ),
    },
    { title: 'Who', cell: ({ identity }) => whoDid(identity) },
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

function EventDialog({ event, onClose }: { readonly event: AuditEvent; readonly onClose: () => void }) {
  const { request, timestamp, ...rest } = event
  const lines = {
    time: exactTime(timestamp),
    ...rest,
    ...request,
    ...(request && { 'response status': request.status }),
  }
  return (
    <Dialog isOpen title={eventWords[event.event]} onClose={onClose} isWide>
      <dl>
        {Object.entries(lines)
          .filter(([name, value]) => value !== undefined && !(request && name === 'status' && value === request.status))
          .map(([name, value]) => (
            <div key={name} className="line">
              <dt>{name.replaceAll('_', ' ')}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
      </dl>
    </Dialog>
  )
}
