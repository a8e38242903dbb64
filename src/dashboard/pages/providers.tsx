import { type ReactNode, useMemo, useState } from 'react'
import type { Me, ProviderSummary } from '../../schemas/index.ts'
import { useTyped } from '../address.ts'
import { ask } from '../daemon.ts'
import { Confirm } from '../parts/dialog.tsx'
import { icons } from '../parts/icons.tsx'
import { Link } from '../parts/link.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { useNotices } from '../parts/notices.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { type Column, Rows } from '../parts/rows.tsx'
import { Said, visible } from '../parts/said.tsx'
import { useAct, useProviders } from '../questions.ts'
import { flowWords, plural } from '../words.ts'
import { ConnectDialog } from './connect.tsx'
import { DefinitionDialog } from './definition.tsx'

type Open =
  | { readonly kind: 'connect' | 'edit' | 'remove'; readonly provider: ProviderSummary }
  | { readonly kind: 'register' }

export function ProvidersPage({ me }: { readonly me: Me }) {
  const question = useProviders()
  const [search, setSearch] = useTyped('find')
  const [open, setOpen] = useState<Open | undefined>()
  const close = () => setOpen(undefined)
  const isAdmin = me.role === 'admin'
  const columns = useMemo(() => columnsFor(isAdmin, setOpen), [isAdmin])
  return (
    <Page
      title="Providers"
      about="The services that Broker knows, and where their credentials may go."
      actions={
        isAdmin && (
          <button type="button" className="button quiet" onClick={() => setOpen({ kind: 'register' })}>
            {icons.plus} Register your own
          </button>
        )
      }
    >
      <Answered question={question}>
        {({ bundled, custom }) => {
          const shown = found([...custom, ...bundled], search)
          return (
            <>
              <search className="filters">
                <label className="wide">
                  <span>Find a service by its name or its host</span>
                  <input type="search" value={search} onChange={({ target }) => setSearch(target.value)} />
                </label>
                <p className="soft" role="status">
                  {plural(shown.length, 'provider')}
                </p>
              </search>
              {shown.length === 0 ? (
                <Empty title={`No provider fits “${search}”`}>
                  <p>
                    A server that speaks OAuth needs no definition: <code>broker login https://its.address</code>
                    {isAdmin && '. Anything else you can register yourself.'}
                  </p>
                </Empty>
              ) : (
                <Rows caption="Providers" columns={columns} items={shown} keyOf={({ name }) => name} />
              )}
            </>
          )
        }}
      </Answered>
      {open?.kind === 'connect' && <ConnectDialog provider={open.provider.name} onClose={close} />}
      {open?.kind === 'edit' && <DefinitionDialog provider={open.provider.name} onClose={close} />}
      {open?.kind === 'register' && <DefinitionDialog onClose={close} />}
      {open?.kind === 'remove' && <RemoveProvider provider={open.provider} onClose={close} />}
    </Page>
  )
}

/** Those whose name begins so come first. */
function found(all: readonly ProviderSummary[], search: string): readonly ProviderSummary[] {
  const text = search.trim().toLowerCase()
  const rank = ({ name, display_name, hosts, connections }: ProviderSummary): number => {
    if (text === '') return connections > 0 ? 0 : 1
    if (name.startsWith(text) || display_name.toLowerCase().startsWith(text)) return 0
    if (name.includes(text) || display_name.toLowerCase().includes(text)) return 1
    return hosts.some((host) => host.includes(text)) ? 2 : -1
  }
  return all
    .map((provider) => ({ provider, rank: rank(provider) }))
    .filter((one) => one.rank >= 0)
    .toSorted((a, b) => a.rank - b.rank || a.provider.display_name.localeCompare(b.provider.display_name, 'en'))
    .map(({ provider }) => provider)
}

function columnsFor(isAdmin: boolean, setOpen: (open: Open) => void): readonly Column<ProviderSummary>[] {
  return [
    {
      title: 'Service',
      cell: ({ name, display_name, source }): ReactNode => (
        <>
          <span className="strong">
            <Said>{display_name}</Said>
          </span>{' '}
          {source === 'custom' && <span className="tag">yours</span>}
          <small className="soft">{name}</small>
        </>
      ),
    },
    { title: 'Login', cell: ({ flow }) => flowWords[flow] },
    { title: 'Hosts', className: 'hosts', cell: ({ hosts }) => <HostList hosts={hosts} /> },
    {
      title: 'Connections',
      cell: ({ name, connections }) =>
        connections > 0 ? (
          <Link to={`/connections?find=${name}`}>{connections} connected</Link>
        ) : (
          <span className="soft">none yet</span>
        ),
    },
    {
      title: 'What to do',
      isUnseen: true,
      className: 'end',
      cell: (provider) => (
        <span className="row-acts">
          <button type="button" className="button quiet small" onClick={() => setOpen({ kind: 'connect', provider })}>
            Connect<span className="unseen"> {visible(provider.display_name)}</span>
          </button>
          {isAdmin && (
            <Menu label={`More about ${visible(provider.display_name)}`} items={moreFor(provider, setOpen)} />
          )}
        </span>
      ),
    },
  ]
}

function moreFor(provider: ProviderSummary, setOpen: (open: Open) => void): readonly MenuItem[] {
  const edit = { text: 'Look at and change the definition', onSelect: () => setOpen({ kind: 'edit', provider }) }
  if (provider.source === 'bundled') return [edit]
  return [edit, { text: 'Remove', onSelect: () => setOpen({ kind: 'remove', provider }), isDanger: true }]
}

const MOST_HOSTS = 2

function HostList({ hosts }: { readonly hosts: readonly string[] }) {
  const rest = hosts.length - MOST_HOSTS
  return (
    <span className="soft" title={hosts.join('\n')}>
      {hosts.slice(0, MOST_HOSTS).join(', ')}
      {rest > 0 && ` and ${rest} more`}
    </span>
  )
}

function RemoveProvider({ provider, onClose }: { readonly provider: ProviderSummary; readonly onClose: () => void }) {
  const { say } = useNotices()
  const { name, display_name, connections } = provider
  const remove = useAct(() => ask('DELETE /api/providers/{provider}', { params: { provider: name } }))
  return (
    <Confirm
      isOpen
      title={`Remove the definition of ${display_name}?`}
      act="Remove"
      onClose={onClose}
      onConfirm={async () => {
        const { action } = await remove.mutateAsync(undefined)
        say(action === 'reset' ? `${display_name} is as it was shipped again` : `${display_name} is removed`)
      }}
    >
      <p>
        {connections > 0
          ? `Its ${plural(connections, 'connection')} may go with it. The service itself is not told.`
          : 'The service itself is not told.'}
      </p>
    </Confirm>
  )
}
