import { type ReactNode, useCallback, useDeferredValue, useMemo, useState } from 'react'
import type { Connection, Me, Revoked } from '../../schemas/index.ts'
import { goTo, useAddress, useTyped, withQuery } from '../address.ts'
import { ask } from '../daemon.ts'
import { Badge } from '../parts/badge.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { icons } from '../parts/icons.tsx'
import { Link } from '../parts/link.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { useNotices } from '../parts/notices.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { type Column, Rows } from '../parts/rows.tsx'
import { Said } from '../parts/said.tsx'
import { exactTime, When } from '../parts/when.tsx'
import { useAct, useApproval, useConnection, useConnections, useProviders } from '../questions.ts'
import { connectionStatus, flowWords, plural } from '../words.ts'
import { ConnectDialog } from './connect.tsx'

type Act = 'again' | 'approve' | 'logout' | 'revoke'

export function ConnectionsPage(_: { readonly me: Me }) {
  const question = useConnections()
  const serviceName = useServiceNames()
  const address = useAddress()
  const [act, setAct] = useState<{ readonly kind: Act; readonly connection: Connection } | undefined>()
  const [search, setSearch] = useTyped('find')
  const status = address.searchParams.get('status') ?? ''
  const { say, fail } = useNotices()
  const setDefault = useAct(({ provider, connection }: Connection) =>
    ask('POST /api/connections/{provider}/{connection}/default', { params: { provider, connection } }),
  ).mutate
  const makeDefault = useCallback(
    (one: Connection) =>
      setDefault(one, {
        onSuccess: () => say(`${one.connection} is the default of ${one.provider} now`),
        onError: fail,
      }),
    [setDefault, say, fail],
  )
  const columns = useMemo(
    () => columnsFor({ serviceName, isOneOfMany: severalOf(question.data ?? []), setAct, makeDefault }),
    [serviceName, question.data, makeDefault],
  )
  const shown = useFound(question.data, search, status)
  const named = {
    provider: address.searchParams.get('provider') ?? '',
    connection: address.searchParams.get('connection') ?? '',
  }
  const close = () => setAct(undefined)
  return (
    <Page
      title="Connections"
      about="Accounts and keys that commands behind “broker run” can use, and none of them can read."
      actions={
        <Link to="/providers" className="button">
          {icons.plus} Connect a service
        </Link>
      }
    >
      <Answered question={question}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No connections yet">
              <p>Pick a service, log in to it once, and every agent of yours can work with it.</p>
              <Link to="/providers" className="button">
                Choose a service
              </Link>
            </Empty>
          ) : (
            <>
              <search className="filters">
                <label>
                  <span>Find</span>
                  <input type="search" value={search} onChange={({ target }) => setSearch(target.value)} />
                </label>
                <label>
                  <span>Status</span>
                  <select
                    value={status}
                    onChange={({ target }) => goTo(withQuery(address, { status: target.value }), 'replace')}
                  >
                    <option value="">any</option>
                    {Object.entries(connectionStatus).map(([value, { text }]) => (
                      <option key={value} value={value}>
                        {text}
                      </option>
                    ))}
                  </select>
                </label>
                <p className="soft" role="status">
                  {plural(shown.length, 'connection')}
                </p>
              </search>
              {shown.length === 0 ? (
                <Empty title="No connection fits">
                  <p>
                    <Link to="/connections">Show all {all.length.toLocaleString('en')}</Link>
                  </p>
                </Empty>
              ) : (
                <Rows
                  caption="Connections"
                  columns={columns}
                  items={shown}
                  keyOf={({ provider, connection }) => `${provider}/${connection}`}
                />
              )}
            </>
          )
        }
      </Answered>
      {named.provider !== '' && named.connection !== '' && (
        <Details
          {...named}
          key={`${named.provider}/${named.connection}`}
          serviceName={serviceName(named.provider)}
          onAgain={(connection) => setAct({ kind: 'again', connection })}
          onApprove={(connection) => setAct({ kind: 'approve', connection })}
          onClose={() => goTo(withQuery(address, { provider: '', connection: '' }), 'replace')}
        />
      )}
      {act?.kind === 'again' && <ConnectDialog {...act.connection} onClose={close} />}
      {act?.kind === 'approve' && <Approve connection={act.connection} onClose={close} />}
      {act?.kind === 'logout' && <LogOut connection={act.connection} onClose={close} />}
      {act?.kind === 'revoke' && <Revoke connection={act.connection} onClose={close} />}
    </Page>
  )
}

/** What a service is called by people; its own name until that is known. */
function useServiceNames(): (provider: string) => string {
  const { data } = useProviders()
  return useMemo(() => {
    const names = new Map(
      [...(data?.bundled ?? []), ...(data?.custom ?? [])].map((one) => [one.name, one.display_name]),
    )
    return (provider) => names.get(provider) ?? provider
  }, [data])
}

/** Whether there are more than one at a provider: only then does it matter which is the default. */
function severalOf(all: readonly Connection[]): (provider: string) => boolean {
  const counts = new Map<string, number>()
  for (const { provider } of all) counts.set(provider, (counts.get(provider) ?? 0) + 1)
  return (provider) => (counts.get(provider) ?? 0) > 1
}

const NONE: readonly Connection[] = []

function useFound(all: readonly Connection[] | undefined, typed: string, status: string): readonly Connection[] {
  const search = useDeferredValue(typed).trim().toLowerCase()
  return useMemo(
    () =>
      all?.filter(
        (one) =>
          (status === '' || one.status === status) &&
          (search === '' ||
            `${one.provider} ${one.connection} ${one.account?.label ?? ''}`.toLowerCase().includes(search)),
      ) ?? NONE,
    [all, search, status],
  )
}

interface ColumnsOptions {
  readonly serviceName: (provider: string) => string
  readonly isOneOfMany: (provider: string) => boolean
  readonly setAct: (act: { readonly kind: Act; readonly connection: Connection }) => void
  readonly makeDefault: (connection: Connection) => void
}

function columnsFor(options: ColumnsOptions): readonly Column<Connection>[] {
  const { serviceName, isOneOfMany } = options
  return [
    {
      title: 'Service',
      cell: (one) => (
        <>
          <button type="button" className="as-link strong" onClick={() => openDetails(one)}>
            <Said>{serviceName(one.provider)}</Said>
          </button>
          <small className="soft">{one.provider}</small>
        </>
      ),
    },
    {
      title: 'Connection',
      cell: ({ provider, connection, is_default, account, base_url: address }) => (
        <>
          {connection} {is_default && isOneOfMany(provider) && <span className="tag">used by default</span>}
          {address !== undefined && (
            <small className="soft path">
              <Said>{address}</Said>
            </small>
          )}
          {account?.label !== undefined && (
            <small className="soft">
              <Said>{account.label}</Said>
            </small>
          )}
        </>
      ),
    },
    {
      title: 'Status',
      cell: ({ status }) => <Badge tone={connectionStatus[status].tone}>{connectionStatus[status].text}</Badge>,
    },
    { title: 'Expires', cell: ({ expires_at }) => (expires_at ? <When at={expires_at} tense="any" /> : <Nothing />) },
    { title: 'Last used', cell: ({ last_used_at }) => (last_used_at ? <When at={last_used_at} /> : 'never') },
    {
      title: 'What to do',
      isUnseen: true,
      className: 'end corner',
      cell: (one) => (
        <Menu label={`What to do with ${one.provider} · ${one.connection}`} items={actsFor(one, options)} />
      ),
    },
  ]
}

function actsFor(one: Connection, { serviceName, setAct, makeDefault }: ColumnsOptions): readonly MenuItem[] {
  return [
    { text: 'Details', onSelect: () => openDetails(one) },
    ...(one.status === 'needs_approval'
      ? [{ text: 'Approve', onSelect: () => setAct({ kind: 'approve', connection: one }) }]
      : []),
    ...(one.is_default ? [] : [{ text: 'Make it the default', onSelect: () => makeDefault(one) }]),
    { text: 'Log in again', onSelect: () => setAct({ kind: 'again', connection: one }) },
    { text: 'Log out', onSelect: () => setAct({ kind: 'logout', connection: one }), isDanger: true },
    {
      text: `Revoke all of ${serviceName(one.provider)}`,
      onSelect: () => setAct({ kind: 'revoke', connection: one }),
      isDanger: true,
    },
  ]
}

function openDetails({ provider, connection }: Connection): void {
  goTo(withQuery(new URL(location.href), { provider, connection }), 'replace')
}

function Nothing() {
  return <span className="soft">–</span>
}

interface OfConnection {
  readonly connection: Connection
  readonly onClose: () => void
}

/** Shows where the credential could go then, and could not before. */
function Approve({ connection: { provider, connection: name }, onClose }: OfConnection) {
  const { say } = useNotices()
  const question = useApproval(provider, name)
  const approve = useAct(() =>
    ask('POST /api/connections/{provider}/{connection}/approve', {
      params: { provider, connection: name },
      body: { version: question.data?.version },
    }),
  )
  return (
    <Confirm
      isOpen
      title={`Approve ${provider} · ${name}?`}
      act="Approve"
      onClose={onClose}
      onConfirm={async () => {
        await approve.mutateAsync(undefined)
        say(`${provider} · ${name} serves again`)
      }}
    >
      <p>The definition of {provider} has changed where this credential may go.</p>
      <Answered question={question}>
        {({ added, removed, known, new_domains }) => (
          <>
            {!known && <p>What it was for before is not known any more: look at all of it.</p>}
            {known && new_domains.length > 0 && (
              <p>
                <Badge tone="bad">New domain</Badge> It was never for {new_domains.join(', ')}.
              </p>
            )}
            <Difference title="It could go to" lines={Object.values(added).flat()} />
            <Difference title="It could no more go to" lines={Object.values(removed).flat()} />
          </>
        )}
      </Answered>
    </Confirm>
  )
}

function Difference({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {lines.map((line) => (
          <li key={line}>
            <code>
              <Said>{line}</Said>
            </code>
          </li>
        ))}
      </ul>
    </>
  )
}

function LogOut({ connection: { provider, connection: name }, onClose }: OfConnection) {
  const { say } = useNotices()
  const logout = useAct(() =>
    ask('POST /api/connections/{provider}/{connection}/logout', { params: { provider, connection: name } }),
  )
  return (
    <Confirm
      isOpen
      title={`Log out of ${provider} · ${name}?`}
      act="Log out"
      onClose={onClose}
      onConfirm={async () => {
        await logout.mutateAsync(undefined)
        say(`Logged out of ${provider} · ${name}`)
      }}
    >
      <p>The credential is removed from your vault, and no agent can use it any more. {provider} is not told.</p>
    </Confirm>
  )
}

function Revoke({ connection: { provider }, onClose }: OfConnection) {
  const { say } = useNotices()
  const revoke = useAct(() => ask('POST /api/connections/{provider}/revoke', { params: { provider } }))
  return (
    <Confirm
      isOpen
      title={`Revoke everything of ${provider}?`}
      act="Revoke"
      onClose={onClose}
      onConfirm={async () => say(revokedSentence(provider, await revoke.mutateAsync(undefined)))}
    >
      <p>
        Every connection of {provider} is removed from your vault. Where {provider} has a way to end tokens, it is told
        to end them. An API key you delete at {provider} itself.
      </p>
    </Confirm>
  )
}

function revokedSentence(provider: string, { removed, remote }: Revoked): string {
  const here = `${plural(removed, 'connection')} of ${provider} removed`
  const there = {
    revoked: `and revoked at ${provider}`,
    unsupported: `but ${provider} has no way to revoke: delete the key there`,
    failed: `but ${provider} could not be reached: end the access there`,
  }[remote]
  return `${here}, ${there}`
}

interface DetailsProps {
  readonly provider: string
  readonly connection: string
  readonly serviceName: string
  readonly onAgain: (connection: Connection) => void
  readonly onApprove: (connection: Connection) => void
  readonly onClose: () => void
}

function Details({ provider, connection: name, serviceName, onAgain, onApprove, onClose }: DetailsProps) {
  const question = useConnection(provider, name)
  const [shown, setShown] = useState<Readonly<Record<string, string>> | undefined>()
  const [isAsking, setAsking] = useState(false)
  const reveal = useAct(() =>
    ask('GET /api/connections/{provider}/{connection}', {
      params: { provider, connection: name },
      query: { reveal: 'true' },
    }),
  )
  const instead = (act: (connection: Connection) => void, one: Connection) => {
    onClose()
    act(one)
  }
  return (
    <Dialog isOpen title={`${serviceName} · ${name}`} onClose={onClose} isWide>
      <Answered question={question}>
        {(one) => (
          <>
            <dl>
              <Line name="Status">
                <Badge tone={connectionStatus[one.status].tone}>{connectionStatus[one.status].text}</Badge>
                {one.attention && (
                  <small className="soft">
                    <Said>{one.attention.reason}</Said> Since {exactTime(one.attention.since)}.
                  </small>
                )}
              </Line>
              <Line name="By">{flowWords[one.flow]}</Line>
              {one.account?.label !== undefined && (
                <Line name="Account">
                  <Said>{one.account.label}</Said>
                </Line>
              )}
              {one.base_url !== undefined && (
                <Line name="Address">
                  <Said>{one.base_url}</Said>
                </Line>
              )}
              {one.scopes.length > 0 && (
                <Line name="Scopes">
                  <span className="tags">
                    {one.scopes.map((scope) => (
                      <code key={scope}>
                        <Said>{scope}</Said>
                      </code>
                    ))}
                  </span>
                </Line>
              )}
              <Line name="Connected">{exactTime(one.created_at)}</Line>
              {one.expires_at !== undefined && <Line name="Token ends">{exactTime(one.expires_at)}</Line>}
              <Line name="Last used">{one.last_used_at === undefined ? 'never' : exactTime(one.last_used_at)}</Line>
              {Object.entries(shown ?? one.credential).map(([field, value]) => (
                <Line key={field} name={field.replaceAll('_', ' ')}>
                  <code className={shown ? 'shown' : undefined}>{value}</code>
                </Line>
              ))}
            </dl>
            <p>
              <Link to={`/audit?provider=${provider}`}>What was done with {serviceName}</Link>
            </p>
            <div className="buttons">
              <button
                type="button"
                className="button quiet"
                onClick={() => (shown ? setShown(undefined) : setAsking(true))}
              >
                {shown ? 'Hide the credential' : 'Show the credential'}
              </button>
              {one.status === 'needs_approval' && (
                <button type="button" className="button" onClick={() => instead(onApprove, one)}>
                  Approve
                </button>
              )}
              {(one.status === 'expired' || one.status === 'needs_login') && (
                <button type="button" className="button" onClick={() => instead(onAgain, one)}>
                  Log in again
                </button>
              )}
            </div>
          </>
        )}
      </Answered>
      <Confirm
        isOpen={isAsking}
        title="Show the credential on this screen?"
        act="Show it"
        onClose={() => setAsking(false)}
        onConfirm={async () => setShown((await reveal.mutateAsync(undefined)).credential)}
      >
        <p>
          Whoever sees it can use {provider} as you. Agents never need it: they work through <code>broker run</code>.
          That it was shown is written to the audit log.
        </p>
      </Confirm>
    </Dialog>
  )
}

function Line({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
