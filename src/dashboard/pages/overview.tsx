import { useState } from 'react'
import type { Connection, Me, Readiness } from '../../schemas/index.ts'
import { daemonNow } from '../daemon.ts'
import { Badge } from '../parts/badge.tsx'
import { Link } from '../parts/link.tsx'
import { withoutCommand } from '../parts/notices.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { Said } from '../parts/said.tsx'
import { When } from '../parts/when.tsx'
import { useAgents, useConnections, useCounts, useEvents, useReadiness } from '../questions.ts'
import { aboutEvent, agentLabel, connectionStatus, eventWord, plural, statusWords, whoDid } from '../words.ts'
import { HOUR, Pictures } from './pictures.tsx'

export function OverviewPage({ me }: { readonly me: Me }) {
  const connections = useConnections()
  return (
    <Page title="Overview" about="What is connected, what needs you, and what your agents did.">
      <Answered question={connections}>
        {(all) => (all.length === 0 ? <FirstSteps /> : <Connected me={me} connections={all} />)}
      </Answered>
    </Page>
  )
}

function FirstSteps() {
  return (
    <Empty title="Nothing is connected yet">
      <p>
        Connect the services that your programs work with. From then on a program can use them through Broker, and never
        gets to see a key.
      </p>
      <Link to="/providers" className="button">
        Connect your first service
      </Link>
      <ol className="steps soft">
        <li>
          Or let a terminal find the keys that you have already: <code>broker onboard</code>
        </li>
        <li>
          Then run anything with them: <code>broker run -- your-command</code>
        </li>
      </ol>
    </Empty>
  )
}

function Connected({ me, connections }: { readonly me: Me; readonly connections: readonly Connection[] }) {
  const agents = useAgents()
  const readiness = useReadiness()
  const providers = new Set(connections.map(({ provider }) => provider)).size
  return (
    <>
      <Attention connections={connections} readiness={readiness.data} />
      <div className="tiles">
        <Tile
          to="/connections"
          number={connections.length}
          text={`to ${plural(providers, 'service')}`}
          title="Connections"
        />
        <Tile to="/agents" number={agents.data?.length} text="may use them" title="Agents" />
        <Today />
      </div>
      <Pictures title="Requests in the last 24 hours" hours={24} filters={{}} />
      <Lately me={me} />
    </>
  )
}

interface TileProps {
  readonly title: string
  readonly to: string
  readonly number: number | undefined
  readonly text: string
}

function Tile({ title, to, number, text }: TileProps) {
  return (
    <Link to={to} className="tile">
      <span className="soft">{title}</span>
      <strong>{number?.toLocaleString('en') ?? '–'}</strong>
      <span className="soft">{text}</span>
    </Link>
  )
}

function Today() {
  const [since] = useState(() => new Date(daemonNow() - 24 * HOUR).toISOString())
  const counts = useCounts({ since, event: 'proxy.request' })
  const denied = useCounts({ since, event: 'proxy.denied' })
  const sum = (all: typeof counts.data) => all?.reduce((total, { count }) => total + count, 0)
  return (
    <Tile
      title="Requests in 24 hours"
      to="/audit?event=proxy.request&hours=24"
      number={sum(counts.data)}
      text={`${(sum(denied.data) ?? 0).toLocaleString('en')} denied`}
    />
  )
}

const MOST_UNWELL = 8

interface AttentionProps {
  readonly connections: readonly Connection[]
  readonly readiness: Readiness | undefined
}

function Attention({ connections, readiness }: AttentionProps) {
  const unwell = connections.filter(({ attention }) => attention !== undefined)
  const names = unwell.map(({ provider, connection }) => `Connection "${connection}" of ${provider} `)
  const issues = [...(readiness?.issues ?? []), ...(readiness?.warnings ?? [])].filter(
    (issue) => !names.some((name) => issue.startsWith(name)),
  )
  if (unwell.length === 0 && issues.length === 0) return null
  return (
    <section className="card attention" aria-labelledby="attention">
      <h2 id="attention">Needs you</h2>
      <ul>
        {unwell.slice(0, MOST_UNWELL).map(({ provider, connection, status, attention }) => (
          <li key={`${provider}/${connection}`}>
            <Badge tone={connectionStatus[status].tone}>{connectionStatus[status].text}</Badge>
            <span>
              <Link to={`/connections?provider=${provider}&connection=${encodeURIComponent(connection)}`}>
                {provider} · {connection}
              </Link>{' '}
              <span className="soft">
                <Said>{attention?.reason ?? ''}</Said>
              </span>
            </span>
          </li>
        ))}
        {unwell.length > MOST_UNWELL && (
          <li>
            <Link to="/connections?status=needs_login">
              and {plural(unwell.length - MOST_UNWELL, 'more connection', 'more connections')}
            </Link>
          </li>
        )}
        {issues.map((issue) => (
          <li key={issue}>
            <Badge tone="warn">Look</Badge>
            <Said>{withoutCommand(issue)}</Said>
          </li>
        ))}
      </ul>
    </section>
  )
}

const LATELY = 8

function Lately({ me }: { readonly me: Me }) {
  const events = useEvents({}, LATELY)
  const agents = useAgents()
  return (
    <section className="card" aria-labelledby="lately">
      <h2 id="lately">Lately</h2>
      <Answered question={events}>
        {({ pages }) => (
          <ul className="lately">
            {(pages[0]?.events ?? []).slice(0, LATELY).map((one) => (
              <li key={one.id}>
                <Badge tone={statusWords[one.status].tone}>{statusWords[one.status].text}</Badge>
                <span>
                  {eventWord(one.event)}
                  {one.provider !== undefined && ` · ${one.provider}`}
                  {aboutEvent(one).map((text) => (
                    <code key={text}>
                      <Said>{text}</Said>
                    </code>
                  ))}
                </span>
                <span className="soft">
                  <Said>{agentLabel(one, me, agents.data ?? []) ?? whoDid(one, me)}</Said>, <When at={one.timestamp} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Answered>
      <p>
        <Link to="/audit">Everything that happened</Link>
      </p>
    </section>
  )
}
