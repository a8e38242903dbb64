import { randomBytes } from 'node:crypto'
import { type Actor, BrokerError, type ErrorName, type FlowName } from '../../protocol/index.ts'
import { definitionAt, type KeySection, type Provider } from '../providers/index.ts'
import type { LoginRequest } from './login-request.ts'
import type { WaitingStep } from './step.ts'

/** Where a login is. What can be done with it is in its state: one that is over can do nothing. */
type State = Waiting | Processing | Over

interface Waiting {
  readonly status: 'waiting_for_user'
  readonly step: WaitingStep
  /** Of a device login, as long as its provider is asked. */
  readonly polling?: Polling
}

/** The connection that is being stored cannot be held up any more. */
interface Processing {
  readonly status: 'processing'
  readonly doing: 'asking' | 'storing'
  /** When whoever is at it has had enough time: its daemon may have been killed. Milliseconds since 1970. */
  readonly until: number
}

export type Over =
  | { readonly status: 'completed'; readonly warnings: readonly string[] }
  | { readonly status: 'failed'; readonly error: { readonly name: ErrorName; readonly message: string } }
  | { readonly status: 'expired' }
  | { readonly status: 'cancelled' }

/** How often a provider may be asked, in seconds, and when at the earliest; by itself a daemon asks at `nextAt`. */
export interface Polling {
  readonly interval: number
  readonly notBefore: number
  readonly nextAt: number
}

/** A login as it was begun. All of it is plain data: see {@link import('./session-record.ts')}. */
export interface NewSession {
  readonly actor: Actor
  readonly provider: Provider
  readonly connection: string
  readonly flow: FlowName
  readonly section: KeySection
  readonly baseUrl?: string
  readonly scopes?: readonly string[]
  readonly anew: LoginRequest['anew']
  readonly existing: 'refuse' | 'replace'
  readonly source: 'login' | 'onboard'
}

/** A login in progress at one moment. It is never changed: another takes its place, with the next revision. */
export interface Session extends NewSession {
  /** 192 random bits: whoever has it may see the session's pages. */
  readonly id: string
  readonly csrf: string
  /** Counted from 0. */
  readonly revision: number
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt: number
  readonly state: State
}

const LIFETIME_MS = 10 * 60_000
/** Longer than any provider is waited for, all that is asked in one step taken together. */
const LONGEST_STEP_MS = 5 * 60_000
/** The same for one question about a device code, and one about the account it was for. */
const LONGEST_POLL_MS = 45_000

export function newSession(wanted: NewSession, step: WaitingStep, now: number): Session {
  const begun: Omit<Session, 'expiresAt' | 'state'> = {
    ...wanted,
    id: randomBytes(24).toString('base64url'),
    csrf: randomBytes(16).toString('base64url'),
    revision: 0,
    createdAt: now,
    updatedAt: now,
  }
  return { ...begun, ...waitingFor(step, now) }
}

/** Waits for the next step. Whoever made an app first has as much time for the provider as all others. */
export function ledOn(session: Session, step: WaitingStep, now: number): Session {
  return { ...moved(session, now), ...waitingFor(step, now) }
}

/** Waits for the same step again, until the same time. */
export function askedAgain(session: Session, step: WaitingStep, now: number): Session {
  return { ...moved(session, now), state: { status: 'waiting_for_user', step } }
}

/** Nobody else may do anything about it but end it. */
export function taken(session: Session, doing: Processing['doing'], now: number): Session {
  return { ...moved(session, now), state: { status: 'processing', doing, until: now + LONGEST_STEP_MS } }
}

export function ended(session: Session, state: Over, now: number): Session {
  return { ...moved(session, now), state }
}

/** Its provider is being asked: nobody else asks meanwhile. */
export function beingPolled(session: Session, interval: number, now: number): Session {
  const free = now + LONGEST_POLL_MS
  return polled(session, { interval, notBefore: free, nextAt: free }, now)
}

/** Its provider is asked again after an interval, unless that is after the end. */
export function polledLater(session: Session, interval: number, now: number): Session {
  const next = now + interval * 1000
  return polled(session, next < session.expiresAt ? { interval, notBefore: next, nextAt: next } : undefined, now)
}

function polled(session: Session, polling: Polling | undefined, now: number): Session {
  const { state } = session
  if (state.status !== 'waiting_for_user') return session
  const { step } = state
  return { ...moved(session, now), state: { status: 'waiting_for_user', step, ...(polling && { polling }) } }
}

function moved(session: Session, now: number): Session {
  return { ...session, revision: session.revision + 1, updatedAt: now }
}

/** A device code has an end of its own; its provider may be asked at once by somebody who wants to know. */
function waitingFor(step: WaitingStep, now: number): Pick<Session, 'expiresAt' | 'state'> {
  const status = 'waiting_for_user'
  if (step.kind !== 'device') return { expiresAt: now + LIFETIME_MS, state: { status, step } }
  const { interval, expiresAt } = step.started
  const nextAt = now + interval * 1000
  return {
    expiresAt,
    state: { status, step, ...(nextAt < expiresAt && { polling: { interval, notBefore: now, nextAt } }) },
  }
}

/** Returns what a session waits for. */
export function waitingStep({ state }: Session): WaitingStep | undefined {
  return state.status === 'waiting_for_user' ? state.step : undefined
}

export function pollingOf({ state }: Session): Polling | undefined {
  return state.status === 'waiting_for_user' ? state.polling : undefined
}

/** The `state` by which its browser is known when it comes back. */
export function browserState(session: Session): string | undefined {
  const step = waitingStep(session)
  return step?.kind === 'browser' ? step.started.state : undefined
}

export function isOpen({ state }: Session): boolean {
  return state.status === 'waiting_for_user' || state.status === 'processing'
}

export function isStoring({ state }: Session): boolean {
  return state.status === 'processing' && state.doing === 'storing'
}

/** Returns when one that is open ends, if nobody does anything about it. */
export function deadlineOf({ state, expiresAt }: Session): number | undefined {
  if (state.status === 'processing') return state.until
  return state.status === 'waiting_for_user' ? expiresAt : undefined
}

/** Returns what becomes of one that nobody does anything about. */
export function overdue({ state, provider: { definition } }: Session): Over {
  if (state.status !== 'processing') return { status: 'expired' }
  const message = `The login to ${definition.display_name} was interrupted: see whether it is connected, or log in again`
  return { status: 'failed', error: { name: 'DaemonUnavailableError', message } }
}

/** The login as those see it who take its steps: its definition is the one at the tenant's address. */
export function requestOf({ actor, provider, flow, section, baseUrl, scopes, anew }: NewSession): LoginRequest {
  return {
    actor,
    provider: { ...provider, definition: definitionAt(provider.definition, baseUrl) },
    flow,
    section,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(scopes !== undefined && { scopes }),
    anew,
  }
}

export function cancelledMeanwhile({ provider: { definition } }: Session): BrokerError {
  return new BrokerError('InputCancelledError', `The login to ${definition.name} was cancelled`, {
    provider: definition.name,
  })
}

export function noSuchSession(): BrokerError {
  return new BrokerError('NotFoundError', 'There is no such login session, or it is over', {
    hint: 'Start the login again: broker login <provider>',
  })
}

export function takesNoValues({ state }: Session): BrokerError {
  const hint = 'Start the login again: broker login <provider>'
  switch (state.status) {
    case 'waiting_for_user':
      return new BrokerError('InvalidRequestError', 'The login waits for the provider, and takes no values')
    case 'expired':
      return new BrokerError('InputCancelledError', 'The login session has expired', { hint })
    case 'processing':
    case 'completed':
    case 'failed':
    case 'cancelled':
      return new BrokerError('InputCancelledError', `The login session is ${state.status}`, { hint })
  }
}
