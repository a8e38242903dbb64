import { randomBytes } from 'node:crypto'
import { type Actor, BrokerError, DEFAULT_CONNECTION, type FlowName } from '../../protocol/index.ts'
import type { AuthSession, Field, StartAuthSession } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import { type Connections, connectionExists } from '../connections/index.ts'
import {
  credentialFields,
  needsBaseUrl,
  type Provider,
  type Providers,
  parseBaseUrl,
  parseCredential,
} from '../providers/index.ts'
import type { Store } from '../store/index.ts'

/** What the page of a session shows. */
export interface SessionForm {
  readonly provider: string
  readonly displayName: string
  readonly connection: string
  readonly fields: readonly Field[]
  /** Where people find the provider's documentation. */
  readonly docsUrl?: string
  /** Proves that a posted form came from the page. */
  readonly csrf: string
}

export interface AuthSessions {
  /** @throws BrokerError ProviderNotFoundError, ConnectionAlreadyExistsError, OperationNotAllowedError */
  begin(actor: Actor, wanted: StartAuthSession): Promise<AuthSession>
  /** @throws BrokerError NotFoundError where it is none of the actor's principal. */
  get(actor: Actor, id: string): AuthSession
  /** Sends field values. @throws BrokerError InvalidRequestError naming the field; the session stays open then. */
  resume(actor: Actor, id: string, input: Readonly<Record<string, string>>): Promise<AuthSession>
  /** What the page of an open session shows; undefined once it is finished, expired or unknown. */
  form(id: string): SessionForm | undefined
  /** Values that came by the page: its unguessable id stands for the one who began it. */
  submit(id: string, input: Readonly<Record<string, string>>): Promise<void>
  /** Ends every session that is open. */
  close(): void
}

export interface AuthSessionsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly providers: Providers
  readonly connections: Connections
  /** `{base_url}` for the pages' URLs. */
  readonly baseUrl: string
  readonly now?: () => number
}

export function openAuthSessions(options: AuthSessionsOptions): AuthSessions {
  return new AuthSessionsInMemory(options)
}

const LIFETIME_MS = 10 * 60 * 1000
/** A finished session answers `get` for as long as it would have lived; more than this many of one principal are never kept. */
const MAX_SESSIONS = 100

type State =
  | { readonly status: 'waiting_for_user' }
  | { readonly status: 'processing' }
  | { readonly status: 'completed' }
  | { readonly status: 'expired' }

interface Session {
  readonly id: string
  readonly actor: Actor
  readonly provider: Provider
  readonly connection: string
  readonly flow: FlowName
  readonly baseUrl: string | undefined
  readonly existing: 'refuse' | 'replace'
  readonly source: 'login' | 'onboard'
  readonly csrf: string
  readonly createdAt: number
  updatedAt: number
  state: State
}

class AuthSessionsInMemory implements AuthSessions {
  readonly #options: AuthSessionsOptions
  readonly #now: () => number
  readonly #sessions = new Map<string, Session>()

  constructor(options: AuthSessionsOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  async begin(actor: Actor, wanted: StartAuthSession): Promise<AuthSession> {
    const { providers, connections } = this.#options
    const provider = providers.get(wanted.provider)
    const { definition } = provider
    const flow = requireFlow(provider, wanted.flow)
    const connection = wanted.connection ?? DEFAULT_CONNECTION
    const baseUrl = tenantUrl(provider, wanted.base_url)
    if (!wanted.force && (await connections.exists(actor, definition.name, connection))) {
      throw connectionExists({ provider: definition.name, connection })
    }
    const now = this.#now()
    const session: Session = {
      id: randomBytes(24).toString('base64url'),
      actor,
      provider,
      connection,
      flow,
      baseUrl,
      existing: wanted.force ? 'replace' : 'refuse',
      source: wanted.source ?? 'login',
      csrf: randomBytes(16).toString('base64url'),
      createdAt: now,
      updatedAt: now,
      state: { status: 'waiting_for_user' },
    }
    this.#keep(session)
    return this.#view(session)
  }

  #keep(session: Session): void {
    const own: string[] = []
    for (const [id, { createdAt, actor }] of this.#sessions) {
      if (createdAt + LIFETIME_MS <= this.#now()) this.#sessions.delete(id)
      else if (actor.principalId === session.actor.principalId) own.push(id)
    }
    // Oldest first: nobody's logins push out another's.
    for (const id of own.slice(0, Math.max(0, own.length - MAX_SESSIONS + 1))) this.#sessions.delete(id)
    this.#sessions.set(session.id, session)
  }

  get(actor: Actor, id: string): AuthSession {
    return this.#view(this.#owned(actor, id))
  }

  async resume(actor: Actor, id: string, input: Readonly<Record<string, string>>): Promise<AuthSession> {
    const session = this.#owned(actor, id)
    if (session.state.status !== 'waiting_for_user') throw notWaiting(session.state)
    await this.#finish(session, input)
    return this.#view(session)
  }

  form(id: string): SessionForm | undefined {
    const session = this.#find(id)
    if (session?.state.status !== 'waiting_for_user') return undefined
    const { definition } = session.provider
    return {
      provider: definition.name,
      displayName: definition.display_name,
      connection: session.connection,
      fields: credentialFields(definition),
      csrf: session.csrf,
      ...(definition.docs_url !== undefined && { docsUrl: definition.docs_url }),
    }
  }

  async submit(id: string, input: Readonly<Record<string, string>>): Promise<void> {
    const session = this.#find(id)
    if (session?.state.status !== 'waiting_for_user') throw noSuchSession()
    await this.#finish(session, input)
  }

  async #finish(session: Session, input: Readonly<Record<string, string>>): Promise<void> {
    // Two at once must not both store: the second finds the session busy.
    this.#move(session, { status: 'processing' })
    try {
      const credential = parseCredential(session.provider.definition, input)
      await this.#options.connections.put(session.actor, {
        provider: session.provider,
        connection: session.connection,
        flow: session.flow,
        credential,
        scopes: [],
        existing: session.existing,
        source: session.source,
        ...(session.baseUrl !== undefined && { baseUrl: session.baseUrl }),
      })
      this.#move(session, { status: 'completed' })
    } catch (error) {
      this.#move(session, { status: 'waiting_for_user' })
      await this.#recordFailure(session, error)
      throw error
    }
  }

  async #recordFailure(session: Session, error: unknown): Promise<void> {
    const { store, audit } = this.#options
    const reason = error instanceof BrokerError ? error.name : 'InternalError'
    await store.transaction((tx) =>
      audit.record(tx, session.actor, {
        event: 'provider.login_failed',
        status: 'failure',
        provider: session.provider.definition.name,
        connection: session.connection,
        reason,
      }),
    )
  }

  #move(session: Session, state: State): void {
    session.state = state
    session.updatedAt = this.#now()
  }

  #owned(actor: Actor, id: string): Session {
    const session = this.#find(id)
    if (session?.actor.principalId !== actor.principalId) throw noSuchSession()
    return session
  }

  #find(id: string): Session | undefined {
    const session = this.#sessions.get(id)
    if (session?.state.status === 'waiting_for_user' && session.createdAt + LIFETIME_MS <= this.#now()) {
      this.#move(session, { status: 'expired' })
    }
    return session
  }

  #view(session: Session): AuthSession {
    const { state, provider, connection, flow, createdAt, updatedAt, id } = session
    return {
      id,
      provider: provider.definition.name,
      connection,
      flow,
      status: state.status,
      message: messages[state.status],
      next_action:
        state.status === 'waiting_for_user'
          ? {
              type: 'form',
              url: `${this.#options.baseUrl}/api/auth/sessions/${id}/input`,
              fields: [...credentialFields(provider.definition)],
            }
          : { type: 'none' },
      created_at: new Date(createdAt).toISOString(),
      updated_at: new Date(updatedAt).toISOString(),
      expires_at: new Date(createdAt + LIFETIME_MS).toISOString(),
    }
  }

  close(): void {
    this.#sessions.clear()
  }
}

const messages: Readonly<Record<State['status'], string>> = {
  waiting_for_user: 'Waiting for the credential',
  processing: 'Storing the credential',
  completed: 'Connected',
  expired: 'The login took too long; start it again',
}

function requireFlow({ definition }: Provider, wanted: FlowName | undefined): FlowName {
  const flow = wanted ?? definition.flow
  if (flow !== 'api_key') {
    throw new BrokerError(
      'OperationNotAllowedError',
      `Cannot log in to ${definition.name} by ${flow}: not in this version`,
      {
        provider: definition.name,
        hint: definition.api_key
          ? `Use its API key: broker login ${definition.name} --flow api_key`
          : 'OAuth logins come with the next version.',
      },
    )
  }
  if (!definition.api_key) {
    throw new BrokerError('OperationNotAllowedError', `Cannot log in to ${definition.name} by API key: it takes none`, {
      provider: definition.name,
    })
  }
  return flow
}

function tenantUrl({ definition }: Provider, text: string | undefined): string | undefined {
  if (text !== undefined) return parseBaseUrl(definition, text)
  if (!needsBaseUrl(definition)) return undefined
  throw new BrokerError(
    'InvalidRequestError',
    `Cannot log in to ${definition.name} without the URL of your own instance`,
    {
      provider: definition.name,
      details: [{ path: 'base_url', message: 'is required' }],
      hint: `broker login ${definition.name} --base-url ${definition.base_url}`,
    },
  )
}

function noSuchSession(): BrokerError {
  return new BrokerError('NotFoundError', 'There is no such login session, or it is over', {
    hint: 'Start the login again: broker login <provider>',
  })
}

function notWaiting({ status }: State): BrokerError {
  const message = status === 'expired' ? 'The login session has expired' : `The login session is ${status}`
  return new BrokerError('InputCancelledError', message, { hint: 'Start the login again: broker login <provider>' })
}
