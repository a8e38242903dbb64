import { type Actor, BrokerError, DEFAULT_CONNECTION, type Secret, type SecretInput } from '../../protocol/index.ts'
import type { AuthSession, RemovedProvider, StartAuthSession } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import { type Connections, connectionExists, type OAuthClients, removeUnusedDefinition } from '../connections/index.ts'
import { type Flows, redirectUriOf } from '../flows/index.ts'
import { definitionAt, oddShapes, type Providers, parseCredential } from '../providers/index.ts'
import type { Store } from '../store/index.ts'
import type { AuthSessions, SessionDevice, SessionForm, SessionProgress, SessionTitle } from './auth-sessions.ts'
import { beginLogin, chooseWay, requireOwnLogin, takesNoKey } from './begin-login.ts'
import { type Clock, systemClock } from './clock.ts'
import { type ClientRooms, providerCode } from './login-client.ts'
import { LoginsUnderWay } from './logins-under-way.ts'
import { addressOf } from './own-address.ts'
import { pastedReturn } from './pasted-return.ts'
import { scopesNamed } from './scope-names.ts'
import {
  cancelledMeanwhile,
  endOf,
  isOpen,
  type NewSession,
  newSession,
  noSuchSession,
  type Session,
  type State,
  takesNoValues,
  titleOf,
  viewOf,
  waitingStep,
} from './session.ts'
import type { BrowserStep, DeviceStep, Granted, Step, WaitingStep } from './step.ts'

export interface AuthSessionsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly providers: Providers
  readonly connections: Connections
  readonly clients: OAuthClients
  readonly flows: Flows
  /** `{base_url}` of the pages' URLs, and of where providers send browsers back to. */
  readonly baseUrl: string
  /** Hears of what is nobody's fault but ours in a login that goes on without a caller. */
  readonly onFailure?: (error: unknown) => void
  readonly clock?: Clock
}

export function openAuthSessions(options: AuthSessionsOptions): AuthSessions {
  return new AuthSessionsInMemory(options)
}

const NEVER = { interval: 0, notBefore: Number.POSITIVE_INFINITY }
/** A session that is over answers for as long as it would have lived; more than this many of one principal are never kept. */
const MAX_SESSIONS = 100

class AuthSessionsInMemory implements AuthSessions {
  readonly #options: AuthSessionsOptions
  readonly #rooms: ClientRooms
  readonly #clock: Clock
  readonly #sessions = new Map<string, Session>()
  /** Which session a browser comes back to. An entry is good once. */
  readonly #byState = new Map<string, Session>()
  readonly #logins = new LoginsUnderWay()
  /** Says that the login of a session that is open is over. */
  readonly #ends = new Map<Session, () => void>()
  /** Switches off what wakes a session up next: its end, or the next question to its provider. */
  readonly #alarms = new Map<Session, () => void>()

  constructor(options: AuthSessionsOptions) {
    const { clients, flows, baseUrl, clock = systemClock } = options
    this.#options = options
    this.#rooms = { clients, flows, redirectUri: redirectUriOf(baseUrl) }
    this.#clock = clock
  }

  async begin(actor: Actor, wanted: StartAuthSession): Promise<AuthSession> {
    // From the first moment on: what a login is about must not be removed while its provider is asked.
    const ended = this.#logins.began(wanted.provider)
    try {
      const session = await this.#begin(actor, wanted)
      this.#ends.set(session, ended)
      this.#endWhereOver(session)
      return this.#view(session)
    } catch (error) {
      ended()
      throw error
    }
  }

  async #begin(actor: Actor, wanted: StartAuthSession): Promise<Session> {
    const { scopes, force, new_client: newClient, source = 'login', connection = DEFAULT_CONNECTION } = wanted
    const { provider, there, baseUrl, flow, section } = await this.#wayOf(actor, wanted)
    const login: NewSession = { actor, provider, connection, flow, source, existing: force ? 'replace' : 'refuse' }
    const step = await this.#recordingFailure(login, () =>
      beginLogin(this.#rooms, flow, {
        actor,
        provider: there,
        section,
        ...(baseUrl !== undefined && { baseUrl }),
        ...(scopes && { scopes: scopesNamed(provider, scopes) }),
        anew: newClient ? 'client' : force ? 'registration' : 'nothing',
      }),
    )
    const session = newSession(login, step, this.#clock.now())
    this.#keep(session)
    this.#wait(session, step)
    return session
  }

  async check(actor: Actor, wanted: StartAuthSession, input: SecretInput): Promise<readonly string[]> {
    const { there, flow, section } = await this.#wayOf(actor, wanted)
    if (flow !== 'api_key') throw takesNoKey(there, flow)
    parseCredential(there.definition, input, section)
    return section === 'client_credentials' ? [] : oddShapes(there.definition, input, section)
  }

  /** All that is decided about a login before anybody is asked. */
  async #wayOf(actor: Actor, wanted: StartAuthSession) {
    const provider = this.#options.providers.get(wanted.provider)
    const baseUrl = await addressOf(this.#options, actor, provider, wanted.base_url)
    requireOwnLogin(provider, baseUrl, wanted)
    const there = { ...provider, definition: definitionAt(provider.definition, baseUrl) }
    const way = chooseWay(there, wanted)
    const id = { provider: provider.definition.name, connection: wanted.connection ?? DEFAULT_CONNECTION }
    const isThere = !wanted.force && (await this.#options.connections.exists(actor, id.provider, id.connection))
    if (isThere) throw connectionExists(id)
    return { provider, there, baseUrl, ...way }
  }

  #keep(session: Session): void {
    const own: Session[] = []
    for (const other of this.#sessions.values()) {
      if (other.expiresAt <= this.#clock.now() && !isOpen(other)) this.#sessions.delete(other.id)
      else if (other.actor.principalId === session.actor.principalId) own.push(other)
    }
    // Oldest first: nobody's logins push out another's.
    for (const other of own.slice(0, Math.max(0, own.length - MAX_SESSIONS + 1))) this.#drop(other)
    this.#sessions.set(session.id, session)
  }

  #drop(session: Session): void {
    this.#sessions.delete(session.id)
    this.#move(session, { status: 'cancelled' })
  }

  get(actor: Actor, id: string): AuthSession {
    return this.#view(this.#owned(actor, id))
  }

  async resume(actor: Actor, id: string, input: SecretInput): Promise<AuthSession> {
    const session = this.#owned(actor, id)
    await this.#resume(session, input)
    return this.#view(session)
  }

  #resume(session: Session, input: SecretInput): Promise<unknown> {
    const [name, ...others] = Object.keys(input)
    const isOAuth = session.flow !== 'api_key'
    if (isOAuth && name === undefined) return this.#askNow(session)
    const { callback_url: pasted } = input
    const isForm = waitingStep(session)?.kind === 'form'
    return isOAuth && pasted !== undefined && others.length === 0 && !isForm
      ? this.#takePasted(session, pasted)
      : this.#submit(session, input)
  }

  /** As if the browser that ended there had come back. One that will not do changes nothing. */
  async #takePasted(session: Session, pasted: Secret): Promise<void> {
    const step = waitingStep(session)
    // The browser may have come back by itself in this moment.
    if (session.state.status === 'processing') await session.underWay
    else if (step?.kind !== 'browser') throw takesNoValues(session)
    else await this.#goOn(session, step, pastedReturn(pasted.reveal(), this.#rooms.redirectUri, step.started))
  }

  /** Asks the provider of a device login at once, unless it was asked an interval ago; then what is under way is enough. */
  async #askNow(session: Session): Promise<void> {
    const step = waitingStep(session)
    const { interval, notBefore } = session.polling ?? NEVER
    if (step?.kind === 'device' && notBefore <= this.#clock.now()) this.#askDevice(session, step, interval)
    await session.underWay
  }

  async cancel(actor: Actor, id: string): Promise<AuthSession> {
    const session = this.#owned(actor, id)
    if (session.state.status === 'processing' && session.state.doing === 'storing') await session.underWay
    if (isOpen(session)) {
      const step = waitingStep(session)
      this.#move(session, { status: 'cancelled' })
      await giveUp(step)
      await this.#recordFailure(session, 'cancelled')
    }
    return this.#view(session)
  }

  form(id: string): SessionForm | undefined {
    const session = this.#find(id)
    const step = session && waitingStep(session)
    if (!session || step?.kind !== 'form') return undefined
    const { asksFor, fields, redirectUri } = step
    const { docs_url: docsUrl } = session.provider.definition
    return {
      ...titleOf(session),
      asksFor,
      fields,
      csrf: session.csrf,
      ...(docsUrl !== undefined && { docsUrl }),
      ...(redirectUri !== undefined && { redirectUri }),
    }
  }

  device(id: string): SessionDevice | undefined {
    const session = this.#find(id)
    const step = session && waitingStep(session)
    if (!session || step?.kind !== 'device') return undefined
    const { userCode, verificationUri, verificationUriComplete, expiresAt } = step.started
    const complete = verificationUriComplete === undefined ? {} : { verificationUriComplete }
    const secondsLeft = Math.round((expiresAt - this.#clock.now()) / 1000)
    return { ...titleOf(session), userCode, verificationUri, expiresAt, secondsLeft, ...complete }
  }

  async submit(id: string, input: SecretInput): Promise<SessionProgress> {
    const session = this.#find(id)
    if (!session || waitingStep(session)?.kind !== 'form') throw noSuchSession()
    await this.#submit(session, input)
    const { status, next_action: nextAction, warnings = [] } = this.#view(session)
    return { ...titleOf(session), status, nextAction, warnings }
  }

  async #submit(session: Session, input: SecretInput): Promise<void> {
    const step = waitingStep(session)
    if (step?.kind !== 'form') throw takesNoValues(session)
    await this.#advance(session, {
      work: () => step.submit(input),
      // What was entered wrongly can be entered again.
      orElse: async (error) => {
        this.#wait(session, step)
        await this.#recordFailure(session, reasonOf(error))
      },
    })
  }

  async comeBack(query: URLSearchParams): Promise<SessionTitle | undefined> {
    const session = this.#byState.get(query.get('state') ?? '')
    const step = session && waitingStep(this.#expireInTime(session))
    if (!session || step?.kind !== 'browser') return undefined
    await this.#goOn(session, step, query)
    return titleOf(session)
  }

  #goOn(session: Session, step: BrowserStep, query: URLSearchParams): Promise<void> {
    return this.#advance(session, {
      work: () => step.comeBack(query),
      orElse: (error) => this.#fail(session, error),
    })
  }

  /** Two at once must not both advance a session: from the first moment on, the second finds it busy. */
  #advance(session: Session, { work, orElse }: Advance): Promise<void> {
    this.#move(session, { status: 'processing', doing: 'asking' })
    return this.#under(session, async () => {
      try {
        await this.#take(session, await work())
      } catch (error) {
        if (isOpen(session)) await orElse(error)
        throw error
      }
    })
  }

  #under(session: Session, work: () => Promise<void>): Promise<void> {
    const underWay = work()
    session.underWay = underWay.catch(() => undefined)
    return underWay
  }

  async #take(session: Session, step: Step): Promise<void> {
    if (!isOpen(session)) {
      await this.#discard(session, step)
      throw cancelledMeanwhile(session)
    }
    if (step.kind !== 'granted') {
      // Whoever made an app first has as much time for the provider as all others.
      session.expiresAt = endOf(step, this.#clock.now())
      return this.#wait(session, step)
    }
    this.#move(session, { status: 'processing', doing: 'storing' })
    await this.#store(session, step)
    this.#move(session, { status: 'completed', warnings: step.warnings ?? [] })
  }

  async #store(session: Session, granted: Granted): Promise<void> {
    const { actor, provider, connection, flow, existing, source } = session
    try {
      await this.#options.connections.put(actor, {
        ...granted.connection,
        provider,
        connection,
        flow,
        existing,
        source,
      })
    } catch (error) {
      await this.#discard(session, granted)
      throw error
    }
  }

  /** Gives back what was granted to a login that is over. */
  async #discard({ actor, provider }: Session, step: Step): Promise<void> {
    if (step.kind !== 'granted') return
    // Some providers end every token of a user with one of them: what is connected must go on.
    const counts = await this.#options.connections.counts(actor)
    if (!counts.has(provider.definition.name)) await step.discard()
  }

  #wait(session: Session, step: WaitingStep): void {
    this.#move(session, { status: 'waiting_for_user', step })
    if (step.kind === 'browser') this.#byState.set(step.started.state, session)
    if (step.kind === 'device') this.#pollLater(session, step, step.started.interval, this.#clock.now())
    else this.#wakeAtEnd(session)
  }

  #wakeAtEnd(session: Session): void {
    const left = Math.max(0, session.expiresAt - this.#clock.now())
    this.#alarms.set(
      session,
      this.#clock.wake(left, () => this.#expire(session)),
    )
  }

  /** @param notBefore when somebody who wants to know may ask at the earliest: the first time at once */
  #pollLater(session: Session, step: DeviceStep, interval: number, notBefore?: number): void {
    const delay = interval * 1000
    const next = this.#clock.now() + delay
    if (next >= session.expiresAt) {
      this.#wakeAtEnd(session)
      return
    }
    session.polling = { interval, notBefore: notBefore ?? next }
    this.#alarms.set(
      session,
      this.#clock.wake(delay, () => this.#askDevice(session, step, interval)),
    )
  }

  #askDevice(session: Session, step: DeviceStep, interval: number): void {
    this.#alarms.get(session)?.()
    session.polling = NEVER
    this.#inBackground(this.#under(session, () => this.#poll(session, step, interval)))
  }

  async #poll(session: Session, step: DeviceStep, interval: number): Promise<void> {
    try {
      const answer = await step.poll(interval)
      if (answer.kind === 'granted') await this.#take(session, answer)
      else if (isOpen(session)) this.#pollLater(session, step, answer.interval)
    } catch (error) {
      if (!isOpen(session)) return
      if (providerCode(error) === 'expired_token') this.#expire(session)
      else await this.#fail(session, error)
    }
  }

  async #fail(session: Session, error: unknown): Promise<void> {
    const known = error instanceof BrokerError ? error : internal(error)
    if (known !== error) this.#options.onFailure?.(error)
    this.#move(session, { status: 'failed', error: known })
    await this.#recordFailure(session, reasonOf(error))
  }

  /** A session that nobody woke up in time, as a machine that slept does not. */
  #expireInTime(session: Session): Session {
    if (waitingStep(session) && session.expiresAt <= this.#clock.now()) this.#expire(session)
    return session
  }

  #expire(session: Session): void {
    const step = waitingStep(session)
    this.#move(session, { status: 'expired' })
    for (const work of [this.#recordFailure(session, 'expired'), giveUp(step)]) this.#inBackground(work)
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.onFailure?.(error))
  }

  /** The only way from one state to another. */
  #move(session: Session, state: State): void {
    this.#alarms.get(session)?.()
    this.#alarms.delete(session)
    const step = waitingStep(session)
    if (step?.kind === 'browser') this.#byState.delete(step.started.state)
    session.state = state
    session.updatedAt = this.#clock.now()
    this.#endWhereOver(session)
  }

  #endWhereOver(session: Session): void {
    if (isOpen(session)) return
    this.#ends.get(session)?.()
    this.#ends.delete(session)
  }

  async removeUnusedProvider(actor: Actor, name: string): Promise<RemovedProvider> {
    this.#options.providers.get(name)
    const isLoginUnderWay = () => this.#logins.isUnderWay(name)
    const kept = await removeUnusedDefinition(this.#options, actor, { name, isLoginUnderWay })
    if (kept === 'login under way')
      this.#logins.whenNone(name, () => this.#inBackground(this.#removeLeftOver(actor, name)))
    return { status: 'ok', provider: name, action: kept ? 'kept' : 'removed', connections_removed: 0 }
  }

  async #removeLeftOver(actor: Actor, name: string): Promise<void> {
    if (this.#options.providers.find(name)) await this.removeUnusedProvider(actor, name)
  }

  #owned(actor: Actor, id: string): Session {
    const session = this.#find(id)
    if (session?.actor.principalId !== actor.principalId) throw noSuchSession()
    return session
  }

  #find(id: string): Session | undefined {
    const session = this.#sessions.get(id)
    return session && this.#expireInTime(session)
  }

  #view(session: Session): AuthSession {
    return viewOf(session, this.#options.baseUrl)
  }

  async #recordingFailure<Result>(login: NewSession, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      await this.#recordFailure(login, reasonOf(error))
      throw error
    }
  }

  async #recordFailure({ actor, provider, connection }: NewSession, reason: string): Promise<void> {
    const { store, audit } = this.#options
    const event = { event: 'provider.login_failed', status: 'failure', reason } as const
    await store.transaction((tx) =>
      audit.record(tx, actor, { ...event, provider: provider.definition.name, connection }),
    )
  }

  async close(): Promise<void> {
    const open = [...this.#sessions.values()]
    const storing = open.filter(({ state }) => state.status === 'processing' && state.doing === 'storing')
    // Who starts the daemon again may do so because the login got nowhere.
    const left = open.map(waitingStep)
    this.#logins.close()
    for (const session of open) this.#drop(session)
    const givenUp = left.map((step) => giveUp(step).catch((error: unknown) => this.#options.onFailure?.(error)))
    await Promise.all([...storing.map(({ underWay }) => underWay), ...givenUp])
  }
}

interface Advance {
  readonly work: () => Promise<Step>
  /** What becomes of a session that is still open after an error. */
  readonly orElse: (error: unknown) => Promise<void>
}

async function giveUp(step: WaitingStep | undefined): Promise<void> {
  if (step?.kind === 'browser') await step.giveUp()
}

/** What the audit log says: the provider's own code where it has one, else the name of the error. */
function reasonOf(error: unknown): string {
  return providerCode(error) ?? (error instanceof BrokerError ? error.name : 'InternalError')
}

function internal(cause: unknown): BrokerError {
  return new BrokerError('InternalError', 'Something went wrong in the daemon', { cause })
}
