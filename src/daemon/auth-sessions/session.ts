import { randomBytes } from 'node:crypto'
import { type Actor, BrokerError, type FlowName } from '../../protocol/index.ts'
import type { AuthSession, Field } from '../../schemas/index.ts'
import type { Provider } from '../providers/index.ts'
import type { FormStep, WaitingStep } from './step.ts'

/** Where a login is. What can be done with it is in its state: one that is over can do nothing. */
export type State =
  | { readonly status: 'waiting_for_user'; readonly step: WaitingStep }
  /** The connection that is being stored cannot be held up any more. */
  | { readonly status: 'processing'; readonly doing: 'asking' | 'storing' }
  | { readonly status: 'completed'; readonly warnings: readonly string[] }
  | { readonly status: 'failed'; readonly error: BrokerError }
  | { readonly status: 'expired' }
  | { readonly status: 'cancelled' }

export interface Session {
  /** 192 random bits: whoever has it may see the session's pages. */
  readonly id: string
  readonly actor: Actor
  readonly provider: Provider
  readonly connection: string
  readonly flow: FlowName
  readonly existing: 'refuse' | 'replace'
  readonly source: 'login' | 'onboard'
  readonly csrf: string
  readonly createdAt: number
  updatedAt: number
  expiresAt: number
  state: State
  /** Of a device login: how often its provider may be asked, in seconds, and when at the earliest. */
  polling?: { readonly interval: number; readonly notBefore: number }
  /** Settles when what is being asked or stored has been. */
  underWay?: Promise<unknown>
}

export type NewSession = Pick<Session, 'actor' | 'provider' | 'connection' | 'flow' | 'existing' | 'source'>

const LIFETIME_MS = 10 * 60_000

export function newSession(wanted: NewSession, step: WaitingStep, now: number): Session {
  return {
    ...wanted,
    id: randomBytes(24).toString('base64url'),
    csrf: randomBytes(16).toString('base64url'),
    createdAt: now,
    updatedAt: now,
    expiresAt: endOf(step, now),
    state: { status: 'waiting_for_user', step },
  }
}

/** Until when a step that begins now can be taken. A device code has an end of its own. */
export function endOf(step: WaitingStep, now: number): number {
  return step.kind === 'device' ? step.started.expiresAt : now + LIFETIME_MS
}

/** What a session waits for. */
export function waitingStep({ state }: Session): WaitingStep | undefined {
  return state.status === 'waiting_for_user' ? state.step : undefined
}

export function isOpen({ state }: Session): boolean {
  return state.status === 'waiting_for_user' || state.status === 'processing'
}

export function titleOf({ provider: { definition }, connection }: Session) {
  return { provider: definition.name, displayName: definition.display_name, connection }
}

/** What anyone may be told of a session who may know of it. @param baseUrl `{base_url}` of its pages */
export function viewOf(session: Session, baseUrl: string): AuthSession {
  const { id, provider, connection, flow, state, createdAt, updatedAt, expiresAt } = session
  return {
    id,
    provider: provider.definition.name,
    connection,
    flow,
    status: state.status,
    message: messageOf(session),
    ...(state.status === 'failed' && { error: { error: state.error.name, message: state.error.message } }),
    ...(state.status === 'completed' && state.warnings.length > 0 && { warnings: [...state.warnings] }),
    next_action: nextAction(session, `${baseUrl}/api/auth/sessions/${id}`),
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
    expires_at: iso(expiresAt),
  }
}

function nextAction({ state, provider: { definition } }: Session, url: string): AuthSession['next_action'] {
  if (state.status !== 'waiting_for_user') return { type: 'none' }
  const { step } = state
  switch (step.kind) {
    case 'form':
      return {
        type: 'form',
        url: `${url}/input`,
        fields: explained(step),
        ...(definition.docs_url !== undefined && { docs_url: definition.docs_url }),
      }
    case 'browser':
      return { type: 'open_url', url: step.started.url }
    case 'device': {
      const { userCode, verificationUri, verificationUriComplete: complete, interval, expiresAt } = step.started
      return {
        type: 'device_code',
        url: `${url}/device`,
        user_code: userCode,
        verification_uri: verificationUri,
        ...(complete !== undefined && { verification_uri_complete: complete }),
        interval,
        expires_at: iso(expiresAt),
      }
    }
  }
}

/** To whoever does not see the page, the first field says what the page shows beside all of them. */
function explained({ fields, redirectUri, isTurnedAway }: FormStep): Field[] {
  const why = isTurnedAway ? 'the server registers no clients by itself: ' : ''
  const help = `${why}of an OAuth app with the redirect URI ${redirectUri}`
  return fields.map((field, at) => (at === 0 && redirectUri !== undefined ? { ...field, help } : field))
}

function messageOf({ state, provider: { definition } }: Session): string {
  const { display_name: name } = definition
  switch (state.status) {
    case 'waiting_for_user':
      return waitingFor(state.step, name)
    case 'processing':
      return state.doing === 'storing' ? 'Storing the credential' : `Asking ${name}`
    case 'completed':
      return 'Connected'
    case 'failed':
      return state.error.message
    case 'expired':
      return 'The login took too long; start it again'
    case 'cancelled':
      return 'The login was cancelled'
  }
}

function waitingFor(step: WaitingStep, name: string): string {
  switch (step.kind) {
    case 'form':
      return step.asksFor === 'app' ? `Waiting for your OAuth app of ${name}` : 'Waiting for the credential'
    case 'browser':
      return `Waiting for the browser to come back from ${name}`
    case 'device':
      return `Waiting for the code to be entered at ${name}`
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

function iso(time: number): string {
  return new Date(time).toISOString()
}
