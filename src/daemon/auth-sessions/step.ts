import type { Actor, SecretInput } from '../../protocol/index.ts'
import type { Field } from '../../schemas/index.ts'
import type { NewConnection } from '../connections/index.ts'
import type { StartedAuthorization, StartedDevice } from '../flows/index.ts'
import type { KeySection, Provider } from '../providers/index.ts'

/** One login as it was asked for. */
export interface LoginRequest {
  readonly actor: Actor
  readonly provider: Provider
  /** The tenant's own URL. */
  readonly baseUrl?: string
  /** Of a login by key: which section of the definition it is about. */
  readonly section: KeySection
  /** In place of the definition's. */
  readonly scopes?: readonly string[]
  /** Which client of an earlier login is not used again: one that the server made for us, or the user's own app too. */
  readonly anew: 'nothing' | 'registration' | 'client'
}

/** What a login does next. Each leads to another, and nothing is stored before the last. */
export type Step = WaitingStep | Granted

/** A step that somebody else has to take. */
export type WaitingStep = FormStep | BrowserStep | DeviceStep

/** Somebody has to enter values. */
export interface FormStep {
  readonly kind: 'form'
  readonly asksFor: 'credential' | 'client' | 'app'
  readonly fields: readonly Field[]
  readonly redirectUri?: string
  /** The server was asked to make a client for us, and makes none. */
  readonly isTurnedAway?: true
  /** @throws BrokerError; the form can be sent again then. */
  submit(input: SecretInput): Promise<Step>
}

/** A browser is at the provider and has to come back. */
export interface BrowserStep {
  readonly kind: 'browser'
  readonly started: StartedAuthorization
  /** @throws BrokerError; the login has failed then. */
  comeBack(query: URLSearchParams): Promise<Granted>
  /** The browser never came back: it may have met a page that does not know our client. */
  giveUp(): Promise<void>
}

/** Somebody has to enter a code at the provider, who is asked again and again whether that has happened. */
export interface DeviceStep {
  readonly kind: 'device'
  readonly started: StartedDevice
  /** Asks once. The seconds to wait before the next time, where it has not. @throws BrokerError; the login has failed then. */
  poll(interval: number): Promise<Granted | { readonly kind: 'pending'; readonly interval: number }>
}

/** The login has what it wanted. */
export interface Granted {
  readonly kind: 'granted'
  readonly connection: Omit<NewConnection, 'provider' | 'connection' | 'flow' | 'existing' | 'source'>
  /** Sentences for whoever logs in. */
  readonly warnings?: readonly string[]
  /** Gives back what nobody will use. Never throws for what a provider or a network may do. */
  discard(): Promise<void>
}
