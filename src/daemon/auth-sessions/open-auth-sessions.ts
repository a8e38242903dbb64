import { type Actor, BrokerError, DEFAULT_CONNECTION, type Secret, type SecretInput } from '../../protocol/index.ts'
import type { AuthSession, RemovedProvider, StartAuthSession } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import {
  connectionExists,
  type DefinitionsOptions,
  type LoginConnections,
  type OAuthClients,
  removeUnusedDefinition,
} from '../connections/index.ts'
import { type Flows, redirectUriOf } from '../flows/index.ts'
import { definitionAt, oddShapes, type Providers, parseCredential } from '../providers/index.ts'
import type { Store } from '../store/index.ts'
import { advance, beginLogin, discard, giveUp } from './advance.ts'
import type { AuthSessions, SessionDevice, SessionForm, SessionProgress, SessionTitle } from './auth-sessions.ts'
import { type Clock, systemClock } from './clock.ts'
import { type ClientRooms, providerCode } from './login-client.ts'
import { chooseWay, requireOwnLogin, takesNoKey } from './login-way.ts'
import { LoginsUnderWay } from './logins-under-way.ts'
import { addressOf } from './own-address.ts'
import { pastedReturn } from './pasted-return.ts'
import { scopesNamed } from './scope-names.ts'
import {
  askedAgain,
  beingPolled,
  cancelledMeanwhile,
  deadlineOf,
  ended,
  isOpen,
  isStoring,
  ledOn,
  type NewSession,
  newSession,
  noSuchSession,
  type Over,
  overdue,
  type Polling,
  polledLater,
  pollingOf,
  requestOf,
  type Session,
  taken,
  takesNoValues,
  waitingStep,
} from './session.ts'
import { type Alarm, SessionAlarms } from './session-alarms.ts'
import { openMemoryRegistry, type SessionRegistry } from './session-registry.ts'
import { deviceOf, formOf, titleOf, viewOf } from './session-view.ts'
import type { Granted, Move, Step } from './step.ts'
import { WorkUnderWay } from './work-under-way.ts'

export interface AuthSessionsOptions {
  readonly store: Store
  readonly audit: Audit
  readonly providers: Providers
  readonly connections: LoginConnections & DefinitionsOptions['connections']
  readonly clients: OAuthClients
  readonly flows: Flows
  /** `{base_url}` of the pages' URLs, and of where providers send browsers back to. */
  readonly baseUrl: string
  /** Hears of what is nobody's fault but ours in a login that goes on without a caller. */
  readonly onFailure?: (error: unknown) => void
  readonly clock?: Clock
  /** In memory where absent. */
  readonly registry?: SessionRegistry
}

export function openAuthSessions(options: AuthSessionsOptions): AuthSessions {
  return new RegisteredAuthSessions(options)
}

/** A session that this daemon has taken, as it wrote it down last. */
interface Held {
  session: Session
}

class RegisteredAuthSessions implements AuthSessions {
  readonly #options: AuthSessionsOptions
  readonly #rooms: ClientRooms
  readonly #now: () => number
  readonly #registry: SessionRegistry
  readonly #alarms: SessionAlarms
  readonly #logins = new LoginsUnderWay()
  /** Says that a login which this daemon has begun is over. By the id of its session. */
  readonly #ends = new Map<string, () => void>()
  /** What this daemon is at, by the id of the session. */
  readonly #work = new WorkUnderWay()
  readonly #storing = new WorkUnderWay()

  constructor(options: AuthSessionsOptions) {
    const { clients, flows, baseUrl, clock = systemClock } = options
    this.#options = options
    this.#rooms = { clients, flows, redirectUri: redirectUriOf(baseUrl) }
    this.#now = () => clock.now()
    this.#registry = options.registry ?? openMemoryRegistry(this.#now)
    this.#alarms = new SessionAlarms({
      clock,
      wake: (session, alarm) => this.#wake(session, alarm),
      onFailure: (error) => options.onFailure?.(error),
    })
    this.#registry.hear?.((asked) => this.#alarms.watch(asked))
  }

  async begin(actor: Actor, wanted: StartAuthSession): Promise<AuthSession> {
    // From the first moment on: what a login is about must not be removed while its provider is asked.
    const end = this.#logins.began(wanted.provider)
    try {
      const session = await this.#begin(actor, wanted)
      const gone = await this.#registry.create(session)
      for (const { id } of gone) this.#leave(id)
      this.#ends.set(session.id, end)
      this.#follow(session)
      return this.#view(session)
    } catch (error) {
      end()
      throw error
    }
  }

  async #begin(actor: Actor, wanted: StartAuthSession): Promise<Session> {
    const { scopes, force, new_client: newClient, source = 'login', connection = DEFAULT_CONNECTION } = wanted
    const { provider, baseUrl, flow, section } = await this.#wayOf(actor, wanted)
    const about = { actor, provider, connection }
    return this.#recordingFailure(about, async () => {
      const login: NewSession = {
        ...about,
        flow,
        section,
        source,
        existing: force ? 'replace' : 'refuse',
        ...(baseUrl !== undefined && { baseUrl }),
        ...(scopes && { scopes: scopesNamed(provider, scopes) }),
        anew: newClient ? 'client' : force ? 'registration' : 'nothing',
      }
      return newSession(login, await beginLogin(this.#rooms, requestOf(login)), this.#now())
    })
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

  async get(actor: Actor, id: string): Promise<AuthSession> {
    return this.#view(await this.#owned(actor, id))
  }

  async resume(actor: Actor, id: string, input: SecretInput): Promise<AuthSession> {
    await this.#resume(await this.#owned(actor, id), input)
    return this.get(actor, id)
  }

  #resume(session: Session, input: SecretInput): Promise<unknown> {
    const [name, ...others] = Object.keys(input)
    const isOAuth = session.flow !== 'api_key'
    // At once, unless it was asked an interval ago; then what is under way is enough.
    if (isOAuth && name === undefined) return this.#poll(session.id, ({ notBefore }) => notBefore <= this.#now())
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
    if (session.state.status === 'processing') return this.#work.done(session.id)
    if (step?.kind !== 'browser') throw takesNoValues(session)
    const query = pastedReturn(pasted.reveal(), this.#rooms.redirectUri, step.started)
    const isOurs = await this.#advance(session, { kind: 'return', step, query })
    if (!isOurs) await this.#work.done(session.id)
  }

  async cancel(actor: Actor, id: string): Promise<AuthSession> {
    for (;;) {
      const session = await this.#owned(actor, id)
      if (isStoring(session)) {
        await this.#work.done(id)
        return this.get(actor, id)
      }
      if (!isOpen(session)) return this.#view(session)
      if (await this.#end({ session }, { status: 'cancelled' })) return this.get(actor, id)
    }
  }

  async form(id: string): Promise<SessionForm | undefined> {
    const session = await this.#find(id)
    return session && formOf(session)
  }

  async device(id: string): Promise<SessionDevice | undefined> {
    const session = await this.#find(id)
    return session && deviceOf(session, this.#now())
  }

  async submit(id: string, input: SecretInput): Promise<SessionProgress> {
    const session = await this.#find(id)
    if (!session || waitingStep(session)?.kind !== 'form') throw noSuchSession()
    await this.#submit(session, input)
    const { status, next_action: nextAction, warnings = [] } = this.#view((await this.#find(id)) ?? session)
    return { ...titleOf(session), status, nextAction, warnings }
  }

  async #submit(session: Session, input: SecretInput): Promise<void> {
    const step = waitingStep(session)
    if (step?.kind !== 'form') throw takesNoValues(session)
    if (await this.#advance(session, { kind: 'submit', step, input })) return
    throw takesNoValues((await this.#find(session.id)) ?? session)
  }

  async comeBack(query: URLSearchParams): Promise<SessionTitle | undefined> {
    const found = await this.#registry.findByState(query.get('state') ?? '')
    const session = found && (await this.#inTime(found))
    const step = session && waitingStep(session)
    if (!session || step?.kind !== 'browser') return undefined
    return (await this.#advance(session, { kind: 'return', step, query })) ? titleOf(session) : undefined
  }

  /**
   * Takes the step, so that nobody else does, and goes where it leads.
   * @returns whether it was ours to take
   * @throws BrokerError with what went wrong; a form waits again then, and any other login has failed
   */
  async #advance(session: Session, move: Exclude<Move, { readonly kind: 'poll' }>): Promise<boolean> {
    const held = { session }
    if (!(await this.#move(held, taken(session, 'asking', this.#now())))) return false
    await this.#work.add(session.id, async () => {
      try {
        await this.#reach(held, await advance(this.#rooms, requestOf(session), move))
      } catch (error) {
        if (move.kind === 'submit') await this.#askAgain(held, move, error)
        else await this.#fail(held, error)
        throw error
      }
    })
    return true
  }

  /** Goes back to the form: what was entered wrongly can be entered again. */
  async #askAgain(held: Held, { step }: Extract<Move, { readonly kind: 'submit' }>, error: unknown): Promise<void> {
    const isOpen = await this.#move(held, askedAgain(held.session, step, this.#now()))
    if (isOpen) await this.#recordFailure(held.session, reasonOf(error))
  }

  /** @throws BrokerError where the login is over meanwhile, and what the connections room throws */
  async #reach(held: Held, step: Step): Promise<void> {
    switch (step.kind) {
      case 'granted':
        return this.#store(held, step)
      case 'pending':
        await this.#move(held, polledLater(held.session, step.interval, this.#now()))
        return
      case 'form':
      case 'browser':
      case 'device':
        if (!(await this.#move(held, ledOn(held.session, step, this.#now())))) throw cancelledMeanwhile(held.session)
    }
  }

  async #store(held: Held, granted: Granted): Promise<void> {
    const { session } = held
    if (!(await this.#move(held, taken(session, 'storing', this.#now())))) {
      await this.#discard(session, granted)
      throw cancelledMeanwhile(session)
    }
    await this.#storing.add(session.id, () => this.#put(session, granted))
    await this.#move(held, ended(held.session, { status: 'completed', warnings: granted.warnings ?? [] }, this.#now()))
  }

  async #put(session: Session, granted: Granted): Promise<void> {
    const { actor, provider, connection, flow, existing, source } = session
    const login = { provider, connection, flow, existing, source }
    try {
      await this.#options.connections.put(actor, { ...granted.connection, ...login })
    } catch (error) {
      await this.#discard(session, granted)
      throw error
    }
  }

  /** Gives back what was granted to a login that is over. */
  async #discard(session: Session, granted: Granted): Promise<void> {
    // Some providers end every token of a user with one of them: what is connected must go on.
    const counts = await this.#options.connections.counts(session.actor)
    if (!counts.has(session.provider.definition.name)) await discard(this.#rooms, requestOf(session), granted)
  }

  /** Asks the provider of a device login, where it is due and nobody else does; waits for what this daemon is at already. */
  async #poll(id: string, isDue: (polling: Polling) => boolean): Promise<void> {
    if (this.#work.has(id)) return this.#work.done(id)
    await this.#work.add(id, async () => {
      const session = await this.#find(id)
      const polling = session && pollingOf(session)
      const step = session && waitingStep(session)
      if (session && step?.kind === 'device' && polling && isDue(polling)) {
        const held = { session }
        if (await this.#move(held, beingPolled(session, polling.interval, this.#now())))
          await this.#ask(held, { kind: 'poll', step, interval: polling.interval })
      } else if (session) this.#follow(session)
    })
  }

  async #ask(held: Held, move: Extract<Move, { readonly kind: 'poll' }>): Promise<void> {
    try {
      await this.#reach(held, await advance(this.#rooms, requestOf(held.session), move))
    } catch (error) {
      if (providerCode(error) === 'expired_token') await this.#end(held, { status: 'expired' })
      else await this.#fail(held, error)
    }
  }

  /** A session that was over already stays as it is. */
  async #fail(held: Held, error: unknown): Promise<void> {
    const { name, message } = error instanceof BrokerError ? error : internal(error)
    const isOurs = await this.#move(
      held,
      ended(held.session, { status: 'failed', error: { name, message } }, this.#now()),
    )
    if (!isOurs) return
    if (!(error instanceof BrokerError)) this.#options.onFailure?.(error)
    await this.#recordFailure(held.session, reasonOf(error))
  }

  async #wake({ id, revision }: Pick<Session, 'id' | 'revision'>, alarm: Alarm): Promise<void> {
    if (alarm.kind === 'take over') return this.#takeOver(id, revision)
    const { kind, at } = alarm
    // The alarm counts, not the clock: somebody may have set that back.
    if (kind === 'poll') return this.#poll(id, ({ nextAt, notBefore }) => nextAt === at || notBefore <= this.#now())
    const session = await this.#registry.find(id)
    if (!session) this.#leave(id)
    else if (deadlineOf(session) === at) await this.#endOverdue(session)
    else this.#follow(session)
  }

  /** Asks in the place of a daemon that is gone. Where it is only that nobody was told what it did, it goes on. */
  async #takeOver(id: string, revision: number): Promise<void> {
    const session = await this.#find(id)
    const polling = session && pollingOf(session)
    if (!polling) return session ? this.#follow(session) : this.#leave(id)
    const { nextAt } = polling
    if (session.revision === revision) await this.#poll(id, (one) => one.nextAt === nextAt)
    else this.#alarms.watch({ id, revision: session.revision, dueInMs: Math.max(0, nextAt - this.#now()) })
  }

  /** A session that nobody woke up in time, as a machine that slept does not. */
  async #inTime(session: Session): Promise<Session | undefined> {
    return (deadlineOf(session) ?? Number.POSITIVE_INFINITY) <= this.#now() ? this.#endOverdue(session) : session
  }

  /** @returns what it is by then, whoever ended it */
  async #endOverdue(session: Session): Promise<Session | undefined> {
    const held = { session }
    const over = overdue(session)
    if (!(await this.#move(held, ended(session, over, this.#now())))) return this.#registry.find(session.id)
    this.#inBackground(this.#gotNowhere(session, over))
    return held.session
  }

  /** @returns whether it was ours to end */
  async #end(held: Held, over: Over): Promise<boolean> {
    const { session } = held
    const isOurs = await this.#move(held, ended(session, over, this.#now()))
    if (isOurs) await this.#gotNowhere(session, over)
    return isOurs
  }

  /** @param session as it was before it ended */
  async #gotNowhere(session: Session, { status }: Over): Promise<void> {
    const recorded = this.#recordFailure(session, status === 'failed' ? 'interrupted' : status)
    await Promise.all([recorded, giveUp(this.#rooms, requestOf(session), waitingStep(session))])
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#options.onFailure?.(error))
  }

  /** The only way from one state to another. @returns whether nobody has moved it meanwhile */
  async #move(held: Held, next: Session): Promise<boolean> {
    if (!(await this.#registry.move(held.session, next))) return false
    held.session = next
    this.#follow(next)
    return true
  }

  #follow(session: Session): void {
    this.#alarms.follow(session)
    if (!isOpen(session)) this.#leave(session.id)
  }

  #leave(id: string): void {
    this.#alarms.off(id)
    this.#ends.get(id)?.()
    this.#ends.delete(id)
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

  async #owned(actor: Actor, id: string): Promise<Session> {
    const session = await this.#find(id)
    if (session?.actor.principalId !== actor.principalId) throw noSuchSession()
    return session
  }

  async #find(id: string): Promise<Session | undefined> {
    const session = await this.#registry.find(id)
    return session && this.#inTime(session)
  }

  #view(session: Session): AuthSession {
    return viewOf(session, this.#options.baseUrl)
  }

  async #recordingFailure<Result>(about: LoginName, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      await this.#recordFailure(about, reasonOf(error))
      throw error
    }
  }

  async #recordFailure({ actor, provider, connection }: LoginName, reason: string): Promise<void> {
    const { store, audit } = this.#options
    const event = { event: 'provider.login_failed', status: 'failure', reason } as const
    await store.vaultTransaction(actor.vaultId, (tx) =>
      audit.record(tx, actor, { ...event, provider: provider.definition.name, connection }),
    )
  }

  async close(): Promise<void> {
    this.#logins.close()
    this.#alarms.close()
    // Who starts the daemon again may do so because the login got nowhere.
    const left = await this.#registry.close()
    const givenUp = left.map((session) => giveUp(this.#rooms, requestOf(session), waitingStep(session)))
    for (const work of givenUp) this.#inBackground(work)
    await Promise.allSettled([this.#storing.allDone(), ...givenUp])
  }
}

type LoginName = Pick<NewSession, 'actor' | 'provider' | 'connection'>

/** Returns what the audit log says: the provider's own code where it has one, else the name of the error. */
function reasonOf(error: unknown): string {
  return providerCode(error) ?? (error instanceof BrokerError ? error.name : 'InternalError')
}

function internal(cause: unknown): BrokerError {
  return new BrokerError('InternalError', 'Something went wrong in the daemon', { cause })
}
