import type { Actor, SecretInput } from '../../protocol/index.ts'
import type { AuthSession, Field, RemovedProvider, StartAuthSession } from '../../schemas/index.ts'

/** What every page of a session says: whose login it is, and what it will be called. */
export interface SessionTitle {
  readonly provider: string
  readonly displayName: string
  readonly connection: string
}

export interface SessionForm extends SessionTitle {
  /** The credential itself, a client that acts for itself, or the user's own OAuth app. */
  readonly asksFor: 'credential' | 'client' | 'app'
  readonly fields: readonly Field[]
  /** Where people find the provider's documentation. */
  readonly docsUrl?: string
  /** What an OAuth app has to be told: where the provider sends the browser back to. */
  readonly redirectUri?: string
  /** Proves that a posted form came from the page. */
  readonly csrf: string
}

export interface SessionDevice extends SessionTitle {
  readonly userCode: string
  /** https, or http on loopback. */
  readonly verificationUri: string
  readonly verificationUriComplete?: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  readonly secondsLeft: number
}

/** What a page leads on to. */
export interface SessionProgress extends SessionTitle {
  readonly status: AuthSession['status']
  readonly nextAction: AuthSession['next_action']
  /** What is odd about what was stored: sentences. */
  readonly warnings: readonly string[]
}

/** Logins in progress. Whatever one of them finds out is stored once it is complete, all of it or nothing. */
export interface AuthSessions {
  /**
   * @throws BrokerError ProviderNotFoundError, ConnectionAlreadyExistsError, OperationNotAllowedError, and what the provider
   *   says or fails to say: EndpointUnreachableError, AuthenticationFailedError
   */
  begin(actor: Actor, wanted: StartAuthSession): Promise<AuthSession>
  /**
   * Decides on a key as a login with it would, without asking the provider and without keeping anything.
   * @returns what is odd about it: sentences
   * @throws BrokerError as {@link AuthSessions.begin} and {@link AuthSessions.resume}
   */
  check(actor: Actor, wanted: StartAuthSession, input: SecretInput): Promise<readonly string[]>
  /** @throws BrokerError NotFoundError where it is none of the actor's principal. */
  get(actor: Actor, id: string): Promise<AuthSession>
  /**
   * Sends field values, or as `callback_url` the address that a browser elsewhere was sent back to. Without any, an OAuth login answers how far it is, once a question to the provider that is under
   * way has been answered.
   * @throws BrokerError InvalidRequestError naming the field; the session stays open then.
   */
  resume(actor: Actor, id: string, input: SecretInput): Promise<AuthSession>
  /** Ends it; nothing of it stays. One whose connection is being stored completes. @throws BrokerError NotFoundError */
  cancel(actor: Actor, id: string): Promise<AuthSession>
  /** What the page of a session that asks for values shows; undefined for every other one. */
  form(id: string): Promise<SessionForm | undefined>
  /** Returns what the page of a session that waits for a code shows; undefined for every other one. */
  device(id: string): Promise<SessionDevice | undefined>
  /** Values that came by the page: its unguessable id stands for the one who began it. @throws as {@link AuthSessions.resume} */
  submit(id: string, input: SecretInput): Promise<SessionProgress>
  /**
   * Takes the browser that a provider sent back, once: `state` says whose login it is. Undefined where it is nobody's.
   * @throws BrokerError with what went wrong; the session has failed then.
   */
  comeBack(query: URLSearchParams): Promise<SessionTitle | undefined>
  /**
   * Removes a definition that no connection uses. While somebody logs in there it stays, and is looked at again once all
   * of them are done: who comes second does not lose it by the first one's end.
   * @throws BrokerError ProviderNotFoundError
   */
  removeUnusedProvider(actor: Actor, provider: string): Promise<RemovedProvider>
  /** Ends every session that nobody else can go on with, and waits for those whose connection is being stored. */
  close(): Promise<void>
}
