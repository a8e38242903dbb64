import type { FlowName, SecretInput } from '../../protocol/index.ts'
import type { Field } from '../../schemas/index.ts'
import type { NewConnection } from '../connections/index.ts'
import type { OAuthServer, Party, StartedAuthorization, StartedDevice, Tokens } from '../flows/index.ts'
import type { LoginClient } from './login-client.ts'

/**
 * A step that somebody else has to take. Plain data and `Secret`s, so that whichever daemon finds it can go on; a change
 * of its shape is a new `RECORD_FORMAT` of `session-record.ts`.
 */
export type WaitingStep = FormStep | BrowserStep | DeviceStep

/** Somebody has to enter values. */
export type FormStep = CredentialForm | AppForm

interface CredentialForm {
  readonly kind: 'form'
  readonly asksFor: 'credential' | 'client'
  readonly fields: readonly Field[]
}

export type OAuthFlow = Exclude<FlowName, 'api_key'>

/** Of the user's own OAuth app at this server. */
export interface AppForm {
  readonly kind: 'form'
  readonly asksFor: 'app'
  readonly flow: OAuthFlow
  readonly fields: readonly Field[]
  readonly server: OAuthServer
  readonly redirectUri?: string
  /** The server was asked to make a client for us, and makes none. */
  readonly isTurnedAway?: true
}

/** A browser is at the provider and has to come back. */
export interface BrowserStep {
  readonly kind: 'browser'
  readonly server: OAuthServer
  readonly client: LoginClient
  readonly started: Omit<StartedAuthorization, keyof Party>
}

/** Somebody has to enter a code at the provider, who is asked again and again whether that has happened. */
export interface DeviceStep {
  readonly kind: 'device'
  readonly server: OAuthServer
  readonly client: LoginClient
  readonly started: Omit<StartedDevice, keyof Party>
}

/** What takes a login further: what somebody did about the step that waited for it. */
export type Move =
  | { readonly kind: 'submit'; readonly step: FormStep; readonly input: SecretInput }
  /** The browser came back with this query, whose `state` has been compared. */
  | { readonly kind: 'return'; readonly step: BrowserStep; readonly query: URLSearchParams }
  /** `interval`: seconds, of the last answer. */
  | { readonly kind: 'poll'; readonly step: DeviceStep; readonly interval: number }

/** Where a move leads. */
export type Step = WaitingStep | Pending | Granted

/** The code has not been entered yet; `interval` is what to keep from now on, in seconds. */
export interface Pending {
  readonly kind: 'pending'
  readonly interval: number
}

/** The login has what it wanted, and nothing of it is stored yet. */
export interface Granted {
  readonly kind: 'granted'
  readonly connection: Omit<NewConnection, 'provider' | 'connection' | 'flow' | 'existing' | 'source'>
  /** Sentences for whoever logs in. */
  readonly warnings?: readonly string[]
  /** What can be given back where nobody will use it. */
  readonly revocable?: Revocable
}

/** `grant`: a person's yes to a client of ours. `client`: a token of a client that acts for itself. */
type Revocable =
  | ({ readonly kind: 'grant' } & Pick<BrowserStep, 'server' | 'client'> & Pick<Tokens, 'accessToken' | 'refreshToken'>)
  | ({ readonly kind: 'client' } & Pick<Tokens, 'accessToken'>)
