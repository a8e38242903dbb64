import type { Role } from './words.ts'

/** Who makes a request, as its signature or its session proved. Every act and every audit event names one. */
export type Actor = IdentityActor | RunActor | BrowserActor | DaemonActor

interface Acting {
  /** Handle of the identity, or a word in brackets: `(browser)`, `(daemon)`. */
  readonly identity: string
  readonly principalId: string
  /** The vault of the principal: what the actor may see and use. */
  readonly vaultId: string
  readonly role: Role
}

interface Signed extends Acting {
  /** Tells two identities of one handle apart. */
  readonly identityId: string
  readonly did: string
  readonly browser?: never
}

/** An agent, or the owner's command line, by the key of its identity. */
export interface IdentityActor extends Signed {
  readonly kind: 'identity'
  readonly run?: never
}

/** The key of one `broker run`: it may do less than the identity that started it. */
interface RunActor extends Signed {
  readonly kind: 'run'
  readonly run: RunGrant
}

interface Unsigned extends Acting {
  readonly identityId?: never
  readonly did?: never
  readonly run?: never
}

/** A person at a browser. */
export interface BrowserActor extends Unsigned {
  readonly kind: 'browser'
  readonly browser: { readonly sessionId: string; readonly email?: string }
}

/** The daemon by itself, for the principal whose connection it is. */
interface DaemonActor extends Unsigned {
  readonly kind: 'daemon'
  readonly browser?: never
}

export interface RunGrant {
  readonly id: string
  /** Only these providers may be injected; all when absent. */
  readonly only?: readonly string[]
  /** Connection to use instead of the provider's default, by provider. */
  readonly connections: Readonly<Record<string, string>>
  /** The run that it was started in. */
  readonly within?: string
}
