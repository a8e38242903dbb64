import { useEffect } from 'react'
import type { Me } from '../schemas/index.ts'
import { goTo, useAddress } from './address.ts'
import { useLive } from './live.ts'
import { AgentsPage } from './pages/agents.tsx'
import { AuditPage } from './pages/audit.tsx'
import { ConnectionsPage } from './pages/connections.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { ProvidersPage } from './pages/providers.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { Guard } from './parts/guard.tsx'
import { icons } from './parts/icons.tsx'
import { Link } from './parts/link.tsx'
import { Answered, Empty, Page } from './parts/page.tsx'
import { useMe } from './questions.ts'

const PAGES = [
  { path: '/', title: 'Overview', icon: icons.overview, Show: OverviewPage },
  { path: '/connections', title: 'Connections', icon: icons.connections, Show: ConnectionsPage },
  { path: '/providers', title: 'Providers', icon: icons.providers, Show: ProvidersPage },
  { path: '/agents', title: 'Agents', icon: icons.agents, Show: AgentsPage },
  { path: '/audit', title: 'Audit', icon: icons.audit, Show: AuditPage },
  { path: '/settings', title: 'Settings', icon: icons.settings, Show: SettingsPage },
] as const

export function App() {
  const me = useMe()
  const live = useLive(Boolean(me.data))
  return (
    <>
      {live === 'away' && (
        <p className="away" role="status">
          The daemon does not answer. This page goes on by itself once it does.
        </p>
      )}
      <Answered question={me}>{(person) => (person ? <SignedIn me={person} /> : <SignInPage />)}</Answered>
    </>
  )
}

/** No other path: what is gone to from here is gone to by a page of ours. */
const CLAIM = /^\/api\/claim\/[A-Za-z0-9_-]+$/

function SignedIn({ me }: { readonly me: Me }) {
  const address = useAddress()
  useEffect(() => {
    // Where somebody was led to sign in on the way to a page of the daemon's own.
    const next = address.searchParams.get('next')
    if (next !== null && CLAIM.test(next)) location.assign(next)
    else if (next !== null) goTo('/', 'replace')
  }, [address])
  const page = PAGES.find(({ path }) => path === address.pathname)
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the page
      </a>
      <nav className="side" aria-label="Pages">
        <p className="brand">
          {icons.key} <span>Broker</span>
        </p>
        <ul>
          {PAGES.map(({ path, title, icon }) => (
            <li key={path}>
              <Link to={path} isCurrent={path === address.pathname}>
                {icon} <span>{title}</span>
              </Link>
            </li>
          ))}
        </ul>
        <p className="soft who">{me.email ?? 'Owner of this machine'}</p>
      </nav>
      {page ? (
        <Guard key={page.path}>
          <page.Show me={me} />
        </Guard>
      ) : (
        <Page title="Not found">
          <Empty title="There is no such page">
            <Link to="/">Go to the overview</Link>
          </Empty>
        </Page>
      )}
    </div>
  )
}
