import { useMemo, useState } from 'react'
import type { Identity, Me } from '../../schemas/index.ts'
import { ask } from '../daemon.ts'
import { Confirm, Dialog, Wrong } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { icons } from '../parts/icons.tsx'
import { Link } from '../parts/link.tsx'
import { Menu } from '../parts/menu.tsx'
import { useNotices } from '../parts/notices.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { type Column, Rows } from '../parts/rows.tsx'
import { useSubmit } from '../parts/submit.ts'
import { When } from '../parts/when.tsx'
import { useAct, useAgents } from '../questions.ts'
import { fingerprint } from '../words.ts'

type Open = { readonly kind: 'rename' | 'remove'; readonly agent: Identity } | { readonly kind: 'add' }

export function AgentsPage(_: { readonly me: Me }) {
  const question = useAgents()
  const [open, setOpen] = useState<Open | undefined>()
  const close = () => setOpen(undefined)
  const columns = useMemo<readonly Column<Identity>[]>(
    () => [
      {
        title: 'Agent',
        cell: ({ identity, label }) => (
          <>
            <span className="strong">{label ?? identity}</span>
            {label !== undefined && <small className="soft">{identity}</small>}
          </>
        ),
      },
      { title: 'Key ends in', cell: ({ did }) => <code title={did}>{fingerprint(did)}</code> },
      { title: 'Since', cell: ({ created_at }) => <When at={created_at} /> },
      { title: 'Last used', cell: ({ last_used_at }) => (last_used_at ? <When at={last_used_at} /> : 'never') },
      {
        title: 'What it did',
        cell: ({ identity }) => <Link to={`/audit?identity=${identity}`}>Its events</Link>,
      },
      {
        title: 'What to do',
        isUnseen: true,
        className: 'end corner',
        cell: (agent) => (
          <Menu
            label={`What to do with ${agent.label ?? agent.identity}`}
            items={[
              { text: 'Rename', onSelect: () => setOpen({ kind: 'rename', agent }) },
              { text: 'Remove', onSelect: () => setOpen({ kind: 'remove', agent }), isDanger: true },
            ]}
          />
        ),
      },
    ],
    [],
  )
  return (
    <Page
      title="Agents"
      about="Keys of programs and people that may use your connections. Each signs whatever it asks."
      actions={
        <button type="button" className="button" onClick={() => setOpen({ kind: 'add' })}>
          {icons.plus} Add an agent
        </button>
      }
    >
      <Answered question={question}>
        {(agents) =>
          agents.length === 0 ? (
            <Empty title="No agents yet">
              <p>An agent is a key on some machine that may use your connections.</p>
              <button type="button" className="button" onClick={() => setOpen({ kind: 'add' })}>
                Add an agent
              </button>
            </Empty>
          ) : (
            <Rows caption="Agents" columns={columns} items={agents} keyOf={({ identity }) => identity} />
          )
        }
      </Answered>
      {open?.kind === 'add' && <AddAgent onClose={close} />}
      {open?.kind === 'rename' && <RenameAgent agent={open.agent} onClose={close} />}
      {open?.kind === 'remove' && <RemoveAgent agent={open.agent} onClose={close} />}
    </Page>
  )
}

function AddAgent({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog isOpen title="Add an agent" onClose={onClose}>
      <ol className="steps">
        <li>
          On the machine where it runs, type
          <pre className="command">broker onboard --base-url {location.origin}</pre>
        </li>
        <li>The terminal shows a link and a short code. Open the link in this browser.</li>
        <li>Compare the code, and confirm. From then on the agent may use your connections.</li>
      </ol>
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}

interface OfAgent {
  readonly agent: Identity
  readonly onClose: () => void
}

function RenameAgent({ agent, onClose }: OfAgent) {
  const { say } = useNotices()
  const rename = useAct((label: string) => ask('POST', `/api/identities/${agent.identity}/label`, { label }))
  const { error, submit } = useSubmit(async ({ label = '' }) => {
    await rename.mutateAsync(label)
    say(label === '' ? `It is called ${agent.identity} again` : `It is called ${label} now`)
    onClose()
  })
  return (
    <Dialog isOpen title={`Rename ${agent.label ?? agent.identity}`} onClose={onClose}>
      <form onSubmit={submit}>
        <Wrong error={error} />
        <Field
          name="label"
          label="What you call it"
          isOptional
          defaultValue={agent.label ?? ''}
          help={`It goes on signing as ${agent.identity}, and the audit log names it so.`}
        />
        <div className="buttons">
          <button type="submit" className="button">
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function RemoveAgent({ agent, onClose }: OfAgent) {
  const { say } = useNotices()
  const name = agent.label ?? agent.identity
  const remove = useAct(() => ask('DELETE', `/api/identities/${agent.identity}`))
  return (
    <Confirm
      isOpen
      title={`Remove ${name}?`}
      act="Remove"
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync(undefined)
        say(`${name} is cut off`)
      }}
    >
      <p>
        It can sign no more: what it runs at this moment gets no further credential. Your connections stay as they are.
      </p>
    </Confirm>
  )
}
