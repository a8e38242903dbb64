import { useMemo, useState } from 'react'
import type { AuditEvent, Identity, Me } from '../../schemas/index.ts'
import { isLoopback } from '../address.ts'
import { ask, daemonNow } from '../daemon.ts'
import { Confirm, Dialog, Wrong } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { icons } from '../parts/icons.tsx'
import { Link } from '../parts/link.tsx'
import { Menu } from '../parts/menu.tsx'
import { useNotices } from '../parts/notices.tsx'
import { Answered, Empty, Page } from '../parts/page.tsx'
import { type Column, Rows } from '../parts/rows.tsx'
import { Said, visible } from '../parts/said.tsx'
import { useSubmit } from '../parts/submit.ts'
import { When } from '../parts/when.tsx'
import { useAct, useAgents, useEvents } from '../questions.ts'
import { fingerprint, plural } from '../words.ts'

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
            <span className="strong">
              <Said>{label ?? identity}</Said>
            </span>
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
            label={`What to do with ${visible(agent.label ?? agent.identity)}`}
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
      <RemovedThatTry />
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

const WEEK_MS = 7 * 86_400_000

/** Agents that were removed and go on asking: something still runs as them. */
function RemovedThatTry() {
  const [since] = useState(() => new Date(daemonNow() - WEEK_MS).toISOString())
  const { data } = useEvents({ event: 'identity.refused', since })
  const tries = data?.pages.flatMap(({ events }) => events) ?? []
  if (tries.length === 0) return null
  const names = [...new Set(tries.map(({ identity }) => identity))]
  return (
    <section className="card attention" aria-labelledby="removed">
      <h2 id="removed">Removed, and still trying</h2>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <Tries name={name} tries={tries.filter(({ identity }) => identity === name)} />
          </li>
        ))}
      </ul>
      <p className="soft">Each was refused. Something on its machine still runs as it: end that, or add it again.</p>
    </section>
  )
}

function Tries({ name, tries }: { readonly name: string; readonly tries: readonly AuditEvent[] }) {
  const [last] = tries
  return (
    <span>
      <Link to={`/audit?identity=${name}&event=identity.refused`}>{name}</Link>{' '}
      <span className="soft">
        refused {plural(tries.length, 'time')} within the week, last {last && <When at={last.timestamp} />}
      </span>
    </span>
  )
}

const HANDLE = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/

function AddAgent({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const isWrong = name !== '' && !HANDLE.test(name)
  return (
    <Dialog isOpen title="Add an agent" onClose={onClose}>
      <Field
        name="handle"
        label="What to call it"
        isOptional
        onType={setName}
        help="Lower case, as ci-runner. It signs by this name, and the audit log names it so."
        wrong={isWrong ? 'must be lower-case letters, digits and inner "-", at most 64' : undefined}
      />
      {isLoopback() ? <StepsHere name={isWrong ? '' : name} /> : <StepsElsewhere name={isWrong ? '' : name} />}
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}

/** The daemon is on this machine, and so are its agents: the command makes the key and has it taken at once. */
function StepsHere({ name }: { readonly name: string }) {
  return (
    <ol className="steps">
      <li>
        In a terminal on this machine, type
        <pre className="command">broker agent create {name || 'ci-runner'}</pre>
      </li>
      <li>The agent is yours at once, and appears in the list behind this.</li>
      <li>
        Have commands sign as it from now on:
        <pre className="command">broker agent use {name || 'ci-runner'}</pre>
      </li>
    </ol>
  )
}

function StepsElsewhere({ name }: { readonly name: string }) {
  return (
    <ol className="steps">
      <li>
        On the machine where it runs, type
        <pre className="command">
          {`broker agent create ${name || 'ci-runner'}\nbroker agent use ${name || 'ci-runner'}\nbroker onboard --base-url ${location.origin}`}
        </pre>
      </li>
      <li>The terminal shows a link and a short code. Open the link in this browser.</li>
      <li>Compare the code, and confirm. From then on the agent may use your connections.</li>
    </ol>
  )
}

interface OfAgent {
  readonly agent: Identity
  readonly onClose: () => void
}

function RenameAgent({ agent, onClose }: OfAgent) {
  const { say } = useNotices()
  const rename = useAct((label: string) =>
    ask('POST /api/identities/{handle}/label', { params: { handle: agent.identity }, body: { label } }),
  )
  const { error, submit } = useSubmit(async ({ label = '' }) => {
    await rename.mutateAsync(label)
    say(label === '' ? `It is called ${agent.identity} again` : `It is called ${label} now`)
    onClose()
  })
  return (
    <Dialog isOpen title={`Rename ${visible(agent.label ?? agent.identity)}`} onClose={onClose}>
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
  const name = visible(agent.label ?? agent.identity)
  const remove = useAct(() => ask('DELETE /api/identities/{handle}', { params: { handle: agent.identity } }))
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
