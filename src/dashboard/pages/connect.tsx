import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { AuthSession, ProviderDefinition } from '../../schemas/index.ts'
import { ask } from '../daemon.ts'
import { Dialog, Wrong } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Answered } from '../parts/page.tsx'
import { Said } from '../parts/said.tsx'
import { detailOf, useSubmit } from '../parts/submit.ts'
import { useConnections, useProvider } from '../questions.ts'
import { flowWords } from '../words.ts'

interface ConnectDialogProps {
  readonly provider: string
  /** To log in to again; the person names a new one where absent. */
  readonly connection?: string
  readonly onClose: () => void
}

/** A login from its first question to its end, by whichever flow, without leaving the page. */
export function ConnectDialog({ provider, connection, onClose }: ConnectDialogProps) {
  const definition = useProvider(provider)
  const connections = useConnections()
  const [session, setSession] = useState<AuthSession | undefined>()
  const taken = connections.data?.filter((one) => one.provider === provider).map((one) => one.connection)
  const leave = () => {
    if (session && !isOver(session))
      void ask('DELETE /api/auth/sessions/{session_id}', { params: { session_id: session.id } }).catch(() => undefined)
    onClose()
  }
  return (
    <Dialog isOpen title={`Connect ${definition.data?.display_name ?? provider}`} onClose={leave}>
      <Answered question={{ data: taken && definition.data, error: definition.error ?? connections.error }}>
        {(one) =>
          session ? (
            <Progress definition={one} session={session} onSession={setSession} onClose={onClose} />
          ) : (
            <Begin definition={one} connection={connection} taken={taken ?? []} onSession={setSession} />
          )
        }
      </Answered>
    </Dialog>
  )
}

function isOver({ status }: AuthSession): boolean {
  return ['completed', 'failed', 'expired', 'cancelled'].includes(status)
}

/** A flow, or one of the two logins that are of the flow `api_key` too: with a key that is never sent, and as a client. */
type Way = ProviderDefinition['flow'] | 'signing' | 'client'

/** The ways whose section the definition has, its own first. */
function waysOf(definition: ProviderDefinition): readonly Way[] {
  const { flow, oauth, signing } = definition
  const isForClients = oauth?.grant === 'client_credentials'
  const takesKey = hasKey(definition)
  const own: Way = flow !== 'api_key' || takesKey ? flow : isForClients ? 'client' : 'signing'
  const others: readonly Way[] = [
    ...(hasBrowserLogin(definition) ? (['pkce'] as const) : []),
    ...(oauth?.device_authorization_url === undefined ? [] : (['device_code'] as const)),
    ...(takesKey ? (['api_key'] as const) : []),
    ...(isForClients ? (['client'] as const) : []),
    ...(signing === undefined ? [] : (['signing'] as const)),
  ]
  const isOwnRedirect = own === 'pkce' || own === 'dcr_pkce'
  return [own, ...others.filter((other) => other !== own && !(isOwnRedirect && other === 'pkce'))]
}

function hasBrowserLogin({ flow, oauth }: ProviderDefinition): boolean {
  if (oauth?.authorization_url !== undefined) return true
  // What is known of an issuer of clients is where their tokens come from.
  return oauth?.issuer !== undefined && !(flow === 'api_key' && oauth.grant === 'client_credentials')
}

/** Whether `api_key` is about a key, and not about what is asked of a client. */
function hasKey({ auth_type, flow, api_key: key, oauth }: ProviderDefinition): boolean {
  if (key === undefined || oauth?.grant !== 'client_credentials') return key !== undefined
  if (key.fields !== undefined) return key.fields.some(({ name }) => name === 'api_key')
  return !(auth_type === 'oauth2' && flow === 'api_key')
}

const wayWords: Readonly<Record<Way, string>> = {
  ...flowWords,
  signing: 'Key that signs, and is never sent',
  client: 'Client ID and secret, for nobody in person',
}

/** What begins a login of each. */
function requestOf(way: Way): object {
  if (way === 'signing') return { flow: 'api_key', signing: true }
  return way === 'client' ? { flow: 'api_key', grant: 'client_credentials' } : { flow: way }
}

function scopesHelp(usual: readonly string[], names: readonly string[]): string | undefined {
  const sentences = [
    ...(usual.length > 0 ? [`Unless you say otherwise: ${usual.join(' ')}.`] : []),
    ...(names.length > 0 ? [`Short names: ${names.join(', ')}.`] : []),
  ]
  return sentences.length > 0 ? sentences.join(' ') : undefined
}

interface BeginProps {
  readonly definition: ProviderDefinition
  readonly connection: string | undefined
  /** Names that there are at this provider. */
  readonly taken: readonly string[]
  readonly onSession: (session: AuthSession) => void
}

function Begin({ definition, connection, taken, onSession }: BeginProps) {
  const { name, description, base_url, self_hosted, hosts, oauth } = definition
  const addresses = [base_url ?? []].flat()
  const ways = waysOf(definition)
  const [way, setWay] = useState<Way>(ways[0] ?? definition.flow)
  const isKey = way === 'api_key' || way === 'signing'
  const usual = (way === 'client' ? oauth?.client_scopes : undefined) ?? oauth?.scopes ?? []
  const { error, isBusy, submit } = useSubmit(async ({ connection: wanted, base_url: url, scopes }) => {
    const list = scopes?.split(/[\s,]+/).filter((scope) => scope !== '')
    onSession(
      await ask('POST /api/auth/providers/{provider_name}/connect', {
        params: { provider_name: name },
        body: {
          ...requestOf(way),
          connection: connection ?? wanted ?? 'default',
          ...(connection !== undefined && { force: true }),
          ...(url !== undefined && { base_url: url }),
          ...(list !== undefined && { scopes: list }),
        },
      }),
    )
  })
  const wrong = (field: string) => detailOf(error, field)
  return (
    <Step onSubmit={submit}>
      {description !== undefined && (
        <p className="soft">
          <Said>{description}</Said>
        </p>
      )}
      <Wrong error={error} />
      {ways.length > 1 && (
        <fieldset>
          <legend>How</legend>
          {ways.map((one) => (
            <label key={one} className="choice">
              <input type="radio" name="flow" checked={way === one} onChange={() => setWay(one)} /> {wayWords[one]}
            </label>
          ))}
        </fieldset>
      )}
      {connection === undefined && (
        <Field
          label="Name of the connection"
          name="connection"
          defaultValue={taken.includes('default') ? '' : 'default'}
          help={
            taken.length === 0
              ? 'You can keep several of one service, each by a name of its own.'
              : `There is ${taken.slice(0, 5).join(', ')} already. Give this one a name of its own, such as “work”.`
          }
          wrong={wrong('connection')}
        />
      )}
      {(base_url !== undefined || self_hosted !== undefined) && (
        <Field
          label={addresses.length > 0 ? 'Your address there' : 'Address of your own server'}
          name="base_url"
          type="url"
          isOptional={addresses.length === 0 && hosts.length > 0}
          help={
            <>
              {addresses.length > 0 && (
                <>
                  It looks like <code>{addresses.join(' or ')}</code>.{' '}
                </>
              )}
              {self_hosted !== undefined && 'A server of your own has any address: https, or http on this machine.'}
            </>
          }
          wrong={wrong('base_url')}
        />
      )}
      {!isKey && (
        <Field
          label="Scopes"
          name="scopes"
          isOptional
          help={scopesHelp(usual, Object.keys(oauth?.scope_names ?? {}))}
          wrong={wrong('scopes')}
        />
      )}
      <div className="buttons">
        <button type="submit" className="button" disabled={isBusy}>
          Continue
        </button>
      </div>
    </Step>
  )
}

/** One step of a login. The focus goes where it is to be filled in or gone on from. */
function Step({
  onSubmit,
  children,
}: {
  readonly onSubmit?: (event: FormEvent<HTMLFormElement>) => void
  readonly children: ReactNode
}) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('input, textarea, .buttons a, .buttons button')?.focus()
  }, [])
  return (
    <form ref={form} autoComplete="off" onSubmit={onSubmit ?? ((event) => event.preventDefault())}>
      {children}
    </form>
  )
}

interface ProgressProps {
  readonly definition: ProviderDefinition
  readonly session: AuthSession
  readonly onSession: (session: AuthSession) => void
  readonly onClose: () => void
}

const POLL_MS = 1_000

function Progress({ definition, session, onSession, onClose }: ProgressProps) {
  const queries = useQueryClient()
  const { data } = useQuery({
    queryKey: ['session', session.id],
    queryFn: () => ask('GET /api/auth/sessions/{session_id}', { params: { session_id: session.id } }),
    // A form waits for the person alone; the others end elsewhere.
    enabled: !isOver(session),
    refetchInterval: POLL_MS,
  })
  useEffect(() => {
    // An answer may come after that of a later question.
    if (!data || data.updated_at <= session.updated_at) return
    onSession(data)
    if (isOver(data)) void queries.invalidateQueries()
  }, [data, session.updated_at, onSession, queries])
  const { display_name: name } = definition
  const { status, next_action: next, connection } = session
  if (status === 'completed') {
    return (
      <Step key="completed">
        <p role="status">
          <strong>
            <Said>{`${name} is connected.`}</Said>
          </strong>{' '}
          It is called {connection}. Commands behind “broker run” can use it now, and none of them can read it.
        </p>
        {session.warnings?.map((text) => (
          <p key={text} className="alert warn">
            <Said>{text}</Said>
          </p>
        ))}
        <pre className="command">broker run -- your-command</pre>
        <div className="buttons">
          <button type="button" className="button" onClick={onClose}>
            Done
          </button>
        </div>
      </Step>
    )
  }
  if (isOver(session)) {
    return (
      <Step key="over">
        <p className="alert" role="alert">
          <Said>{session.error?.message ?? session.message ?? `The login is ${status}`}</Said>
        </p>
        <div className="buttons">
          <button type="button" className="button quiet" onClick={onClose}>
            Close
          </button>
        </div>
      </Step>
    )
  }
  if (next.type === 'form') return <Values key={next.fields[0]?.name} {...{ definition, session, onSession, next }} />
  if (next.type === 'open_url') {
    return (
      <Step key="open">
        <p>
          Sign in at {name} in the tab that opens, and allow the access there. This page goes on by itself once you are
          back.
        </p>
        <p className="buttons">
          <a className="button" href={next.url} target="_blank" rel="noopener noreferrer">
            Continue to {new URL(next.url).host}
          </a>
        </p>
        <p className="soft" role="status">
          Waiting for {name}…
        </p>
      </Step>
    )
  }
  if (next.type === 'device_code') {
    return (
      <Step key="code">
        <p>Enter this code at {name}. Only go on if you started this yourself.</p>
        <p className="user-code">
          <Said>{next.user_code}</Said>
        </p>
        <p className="buttons">
          <a
            className="button"
            href={next.verification_uri_complete ?? next.verification_uri}
            target="_blank"
            rel="noopener noreferrer"
          >
            Continue to {new URL(next.verification_uri).host}
          </a>
        </p>
        <p className="soft" role="status">
          Waiting for {name}…
        </p>
      </Step>
    )
  }
  return (
    <p className="soft" role="status">
      One moment…
    </p>
  )
}

type FormStep = Extract<AuthSession['next_action'], { type: 'form' }>

/** What the login asks for: the credential, or the person's own OAuth app. */
function Values({
  definition,
  session,
  onSession,
  next,
}: Omit<ProgressProps, 'onClose'> & { readonly next: FormStep }) {
  const queries = useQueryClient()
  const { error, isBusy, submit } = useSubmit(async (input) => {
    const after = await ask('POST /api/auth/sessions/{session_id}/resume', {
      params: { session_id: session.id },
      body: { input },
    })
    onSession(after)
    if (isOver(after)) await queries.invalidateQueries()
  })
  // By the flow `api_key` an id and a secret are the credential itself.
  const isApp = session.flow !== 'api_key' && next.fields.some(({ name }) => name === 'client_id')
  return (
    <Step onSubmit={submit}>
      <p className="soft">
        {isApp
          ? `${definition.display_name} wants an OAuth app of your own. Register one there with this redirect URI, and enter what it is given.`
          : 'What you enter is sealed in your vault. Commands behind “broker run” can use it and never see it.'}
      </p>
      {isApp && <pre className="command">{`${location.origin}/auth/callback/oauth`}</pre>}
      {definition.docs_url !== undefined && (
        <p>
          <a href={definition.docs_url} target="_blank" rel="noopener noreferrer">
            Get one from {definition.display_name}
          </a>
        </p>
      )}
      <Wrong error={error} />
      {next.fields.map(({ name, label, secret, multiline, required, help }) => (
        <Field
          key={name}
          name={name}
          label={label}
          type={multiline ? 'area' : secret ? 'password' : 'text'}
          isOptional={!required}
          help={help}
          wrong={detailOf(error, name)}
        />
      ))}
      <div className="buttons">
        <button type="submit" className="button" disabled={isBusy}>
          Connect
        </button>
      </div>
    </Step>
  )
}
