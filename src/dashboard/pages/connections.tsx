import { useMemo, useState } from 'react'
import type { Connection, Me, Revoked } from '../../schemas/index.ts'
import { goTo, useAddress, withQuery } from '../address.ts'
import { ask } from '../daemon.ts'
import { Badge } from '../parts/badge.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { icons } from '../parts/icons.tsx'
import { Link } from '../parts/link.tsx'
import { Menu } from '../parts/menu.tsx'
import { useNotices } from '../parts/notices.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { type Column, Rows } from '../parts/rows.tsx'
import { exactTime, When } from '../parts/when.tsx'
import { connectionPath, useAct, useConnection, useConnections } from '../questions.ts'
import { connectionStatus, flowWords, plural, remedy } from '../words.ts'
import { ConnectDialog } from './connect.tsx'

type Act = 'details' | 'again' | 'logout' | 'revoke'

export function ConnectionsPage(_: { readonly me: Me }) {
  const question = useConnections()
  const address = useAddress()
  const [act, setAct] = useState<{ readonly kind: Act; readonly connection: Connection } | undefined>()
  const { say, fail } = useNotices()
  const setDefault = useAct(({ provider, connection }: Connection) =>
    ask('POST', `${connectionPath(provider, connection)}/default`, {}),
  )
  const columns = useMemo<readonly Column<Connection>[]>(
    () => [
      {
        title: 'Provider',
        cell: (one) => (
          <button type="button" className="as-link strong" onClick={() => setAct({ kind: 'details', connection: one })}>
            {one.provider}
          </button>
        ),
      },
      {
        title: 'Connection',
        cell: ({ connection, is_default, account }) => (
          <>
            {connection} {is_default && <span className="tag">default</span>}
            {account?.label !== undefined && <small className="soft">{account.label}</small>}
          </>
        ),
      },
      {
        title: 'Status',
        cell: ({ status }) => <Badge tone={connectionStatus[status].tone}>{connectionStatus[status].text}</Badge>,
      },
      { title: 'Expires', cell: ({ expires_at }) => (expires_at ? <When at={expires_at} /> : <Nothing />) },
      { title: 'Last used', cell: ({ last_used_at }) => (last_used_at ? <When at={last_used_at} /> : 'never') },
      {
        title: 'What to do',
        isUnseen: true,
        className: 'end',
        cell: (one) => (
          <Menu
            label={`What to do with ${one.provider} · ${one.connection}`}
            items={[
              { text: 'Details', onSelect: () => setAct({ kind: 'details', connection: one }) },
              ...(one.is_default
                ? []
                : [
                    {
                      text: 'Make it the default',
                      onSelect: () =>
                        setDefault.mutate(one, {
                          onSuccess: () => say(`${one.connection} is the default of ${one.provider} now`),
                          onError: fail,
                        }),
                    },
                  ]),
              { text: 'Log in again', onSelect: () => setAct({ kind: 'again', connection: one }) },
              { text: 'Log out', onSelect: () => setAct({ kind: 'logout', connection: one }), isDanger: true },
              {
                text: `Revoke ${one.provider}`,
                onSelect: () => setAct({ kind: 'revoke', connection: one }),
                isDanger: true,
              },
            ]}
          />
        ),
      },
    ],
    [setDefault, say, fail],
  )
  const search = address.searchParams.get('provider') ?? ''
  const status = address.searchParams.get('status') ?? ''
  return (
    <Page
      title="Connections"
      about="Accounts and keys that your agents can use, and none of them can read."
      actions={
        <Link to="/providers" className="button">
          {icons.plus} Connect a service
        </Link>
      }
    >
      <Answered question={question}>
        {(all) => {
          if (all.length === 0) {
            return (
              <Empty title="No connections yet">
                <p>Pick a service, log in to it once, and every agent of yours can work with it.</p>
                <Link to="/providers" className="button">
                  Connect a service
                </Link>
              </Empty>
            )
          }
          const shown = all.filter(
            (one) =>
              (search === '' || `${one.provider} ${one.connection} ${one.account?.label ?? ''}`.includes(search)) &&
              (status === '' || one.status === status),
          )
          return (
            <>
              <search className="filters">
                <label>
                  <span>Find</span>
                  <input
                    type="search"
                    value={search}
                    onChange={({ target }) => goTo(withQuery(address, { provider: target.value }), 'replace')}
                  />
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
              <Rows
                caption="Connections"
                columns={columns}
                items={shown}
                keyOf={({ provider, connection }) => `${provider}/${connection}`}
              />
            </>
          )
        }}
      </Answered>
      {act?.kind === 'details' && <Details connection={act.connection} onClose={() => setAct(undefined)} />}
      {act?.kind === 'again' && (
        <ConnectDialog
          provider={act.connection.provider}
          connection={act.connection.connection}
          onClose={() => setAct(undefined)}
        />
      )}
      {(act?.kind === 'logout' || act?.kind === 'revoke') && (
        <Removal kind={act.kind} connection={act.connection} onClose={() => setAct(undefined)} />
      )}
    </Page>
  )
}

function Nothing() {
  return <span className="soft">–</span>
}

interface OfConnection {
  readonly connection: Connection
  readonly onClose: () => void
}

function Removal({ kind, connection, onClose }: OfConnection & { readonly kind: 'logout' | 'revoke' }) {
  const { provider, connection: name } = connection
  const { say, fail } = useNotices()
  const logout = useAct(() => ask('POST', `${connectionPath(provider, name)}/logout`, {}))
  const revoke = useAct(() => ask<Revoked>('POST', `/api/connections/${provider}/revoke`, {}))
  if (kind === 'logout') {
    return (
      <Confirm
        isOpen
        title={`Log out of ${provider} · ${name}?`}
        act="Log out"
        onClose={onClose}
        onConfirm={() =>
          logout.mutate(undefined, { onSuccess: () => say(`Logged out of ${provider} · ${name}`), onError: fail })
        }
      >
        <p>The credential is removed from your vault, and no agent can use it any more. {provider} is not told.</p>
      </Confirm>
    )
  }
  return (
    <Confirm
      isOpen
      title={`Revoke everything of ${provider}?`}
      act="Revoke"
      onClose={onClose}
      onConfirm={() =>
        revoke.mutate(undefined, { onSuccess: (answer) => say(revokedSentence(provider, answer)), onError: fail })
      }
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

function Details({ connection: { provider, connection: name }, onClose }: OfConnection) {
  const question = useConnection(provider, name)
  const [shown, setShown] = useState<Readonly<Record<string, string>> | undefined>()
  const [isAsking, setAsking] = useState(false)
  const { fail } = useNotices()
  const reveal = useAct(() =>
    ask<{ credential: Record<string, string> }>('GET', `${connectionPath(provider, name)}?reveal=true`),
  )
  return (
    <Dialog isOpen title={`${provider} · ${name}`} onClose={onClose} isWide>
      <Answered question={question}>
        {(one) => (
          <>
            <dl>
              <dt>Status</dt>
              <dd>
                <Badge tone={connectionStatus[one.status].tone}>{connectionStatus[one.status].text}</Badge>
                {remedy[one.status] !== '' && <small className="soft">{remedy[one.status]}</small>}
              </dd>
              <dt>By</dt>
              <dd>{flowWords[one.flow]}</dd>
              {one.account?.label !== undefined && <Line name="Account">{one.account.label}</Line>}
              {one.base_url !== undefined && <Line name="Address">{one.base_url}</Line>}
              {one.scopes.length > 0 && (
                <Line name="Scopes">
                  <span className="tags">
                    {one.scopes.map((scope) => (
                      <code key={scope}>{scope}</code>
                    ))}
                  </span>
                </Line>
              )}
              <Line name="Connected">{exactTime(one.created_at)}</Line>
              {one.expires_at !== undefined && <Line name="Token ends">{exactTime(one.expires_at)}</Line>}
              <Line name="Last used">{one.last_used_at === undefined ? 'never' : exactTime(one.last_used_at)}</Line>
              {Object.entries(shown ?? one.credential).map(([field, value]) => (
                <Line key={field} name={field}>
                  <code className={shown ? 'shown' : undefined}>{value}</code>
                </Line>
              ))}
            </dl>
            <div className="buttons">
              {shown ? (
                <button type="button" className="button quiet" onClick={() => setShown(undefined)}>
                  Hide it
                </button>
              ) : (
                <button type="button" className="button quiet" onClick={() => setAsking(true)}>
                  Show the credential
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
        onConfirm={() =>
          reveal.mutate(undefined, { onSuccess: ({ credential }) => setShown(credential), onError: fail })
        }
      >
        <p>
          Whoever sees it can use {provider} as you. Agents never need it: they work through <code>broker run</code>.
          That it was shown is written to the audit log.
        </p>
      </Confirm>
    </Dialog>
  )
}

function Line({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
