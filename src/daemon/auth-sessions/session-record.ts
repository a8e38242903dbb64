import { Secret } from '../../protocol/index.ts'
import type { LoginClient } from './login-client.ts'
import { browserState, deadlineOf, type Session } from './session.ts'
import type { WaitingStep } from './step.ts'

/** Changes with the shape of a session or of a step: a daemon finds no session that one of another format has written. */
export const RECORD_FORMAT = 1

/** A session as it is kept, by whatever keeps it. */
export interface SessionRecord {
  readonly id: string
  /** Of several who write after the same one, the first is the only one. */
  readonly revision: number
  readonly principalId: string
  /** By which its browser is known when it comes back; absent where it waits for none. */
  readonly browserState?: string
  readonly isOpen: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly keptUntil: number
  /** JSON of all of it, its secrets included: to be sealed wherever it leaves the process. */
  readonly content: Secret
}

/** Somebody who sees it has to write down that an open one has ended. */
const LATE_MS = 10 * 60_000

export function writeSession(session: Session): SessionRecord {
  const { id, revision, actor, createdAt, expiresAt } = session
  const state = browserState(session)
  const deadline = deadlineOf(session)
  return {
    id,
    revision,
    principalId: actor.principalId,
    ...(state !== undefined && { browserState: state }),
    isOpen: deadline !== undefined,
    createdAt,
    keptUntil: deadline === undefined ? expiresAt : Math.max(deadline, expiresAt) + LATE_MS,
    content: new Secret(JSON.stringify({ format: RECORD_FORMAT, session: plain(session) })),
  }
}

/** @param content of one that {@link writeSession} wrote, unsealed @returns undefined where it has another format */
export function readSession(content: Secret): Session | undefined {
  const { format, session } = JSON.parse(content.reveal()) as {
    readonly format: number
    readonly session: PlainSession
  }
  if (format !== RECORD_FORMAT) return undefined
  const { state, ...rest } = session
  return {
    ...rest,
    state: state.status === 'waiting_for_user' ? { ...state, step: stepOf(state.step) } : state,
  }
}

/** The same with the characters of each secret in its place. What is read again has to name each of them, or does not compile. */
type Plain<Value> = Value extends Secret
  ? string
  : Value extends object
    ? { [Name in keyof Value]: Plain<Value[Name]> }
    : Value

type PlainSession = Plain<Session>

function plain<Value>(value: Value): Plain<Value> {
  return plainOf(value) as Plain<Value>
}

function plainOf(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal()
  if (Array.isArray(value)) return value.map(plainOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, plainOf(entry)]))
}

function stepOf(step: Plain<WaitingStep>): WaitingStep {
  switch (step.kind) {
    case 'form':
      return step
    case 'browser': {
      const { started, client } = step
      return { ...step, client: clientOf(client), started: { ...started, verifier: new Secret(started.verifier) } }
    }
    case 'device': {
      const { started, client } = step
      return { ...step, client: clientOf(client), started: { ...started, deviceCode: new Secret(started.deviceCode) } }
    }
  }
}

function clientOf({ client, kept, ...rest }: Plain<LoginClient>): LoginClient {
  return { ...rest, client: withSecret(client), ...(kept && { kept: keptOf(kept) }) }
}

function keptOf(kept: Plain<NonNullable<LoginClient['kept']>>): NonNullable<LoginClient['kept']> {
  return kept.kind === 'own'
    ? { kind: 'own', client: withSecret(kept.client) }
    : { kind: 'registered', client: withSecret(kept.client) }
}

function withSecret<Client extends { readonly secret?: string }>({ secret, ...client }: Client) {
  return { ...client, ...(secret !== undefined && { secret: new Secret(secret) }) }
}
