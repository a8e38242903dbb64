import type { AuthSession, Field } from '../../schemas/index.ts'
import type { SessionDevice, SessionForm, SessionTitle } from './auth-sessions.ts'
import { type Session, waitingStep } from './session.ts'
import type { FormStep, WaitingStep } from './step.ts'

export function titleOf({ provider: { definition }, connection }: Session): SessionTitle {
  return { provider: definition.name, displayName: definition.display_name, connection }
}

/** Returns what its page shows where it asks for values. */
export function formOf(session: Session): SessionForm | undefined {
  const step = waitingStep(session)
  if (step?.kind !== 'form') return undefined
  const { docs_url: docsUrl } = session.provider.definition
  const redirectUri = step.asksFor === 'app' ? step.redirectUri : undefined
  return {
    ...titleOf(session),
    asksFor: step.asksFor,
    fields: step.fields,
    csrf: session.csrf,
    ...(docsUrl !== undefined && { docsUrl }),
    ...(redirectUri !== undefined && { redirectUri }),
  }
}

/** Returns what its page shows where it waits for a code. @param now milliseconds since 1970 */
export function deviceOf(session: Session, now: number): SessionDevice | undefined {
  const step = waitingStep(session)
  if (step?.kind !== 'device') return undefined
  const { userCode, verificationUri, verificationUriComplete, expiresAt } = step.started
  const complete = verificationUriComplete === undefined ? {} : { verificationUriComplete }
  const secondsLeft = Math.round((expiresAt - now) / 1000)
  return { ...titleOf(session), userCode, verificationUri, expiresAt, secondsLeft, ...complete }
}

/** Returns what anyone may be told of a session who may know of it. @param baseUrl `{base_url}` of its pages */
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
function explained(step: FormStep): Field[] {
  if (step.asksFor !== 'app') return [...step.fields]
  const { fields, redirectUri, isTurnedAway } = step
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

function iso(time: number): string {
  return new Date(time).toISOString()
}
