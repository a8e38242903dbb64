import type { Role } from './words.ts'

/** Who makes a request, as its signature or its session proved. Every act and every audit event names one. */
export interface Actor {
  /** Handle of the identity, or a word in brackets: `(browser)`, `(daemon)`. */
  readonly identity: string
  /** Of the identity, which alone tells two of one handle apart. Absent where nobody signed: at a browser. */
  readonly identityId?: string
  /** Absent where nobody signed. */
  readonly did?: string
  readonly principalId: string
  /** The vault of the principal: what the actor may see and use. */
  readonly vaultId: string
  readonly role: Role
  /** Set where the key of one `broker run` signed: it may do less than the identity that started it. */
  readonly run?: RunGrant
  /** Set where a person acts by a browser. */
  readonly browser?: { readonly sessionId: string; readonly email?: string }
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
