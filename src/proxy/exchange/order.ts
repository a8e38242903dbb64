import type { ResolvedCredential } from '../../injection/index.ts'
import type { Authority } from '../../network/index.ts'
import type { ResolveRequest, ShippedEvent } from '../../schemas/index.ts'
import type { BodyDecoder, Field, RequestHead, Upstreams } from '../messages/index.ts'

/** Where a request goes that was let through, and what the daemon is asked about it. */
export interface Order {
  readonly kind: 'forward'
  readonly target: Authority
  /** The request target as the upstream shall see it. */
  readonly requestTarget: string
  /** Fields for a proxy on the way, in place of the child's own. */
  readonly proxyFields: readonly Field[]
  /** Asked before the request is sent; without it nothing is injected. */
  readonly question: ResolveRequest | undefined
  /** How it is signed, where its service wants that. */
  readonly signed?: SignedOrder
}

/** How a request becomes one that is signed. */
export interface SignedOrder {
  /** What is asked about it; without `sign` until its body was collected. */
  readonly question: ResolveRequest
  /** The head to send in place of the child's; its framing is that of what is sent. */
  readonly head?: RequestHead
  /** What its body goes through, where it does not pass as it is. */
  readonly decoder?: BodyDecoder
  /** Set where the body is held until its hash is known; makes the question of that (SHA-256 in hex). */
  readonly collects?: (sha256: string) => ResolveRequest
}

/** How the daemon is asked for the credential of a request. */
export interface Questions {
  /** Calls `answered` once, later, with the resolution or the error that refuses it. */
  ask(question: ResolveRequest, answered: (outcome: ResolvedCredential | Error) => void): void
}

/** What is known of an event where it happens; id, time and run are added where it is sent. */
export type AuditEntry = Omit<ShippedEvent, 'id' | 'timestamp' | 'run_id'>

/** Where events go, never in a request's way. */
export interface AuditTrail {
  record(entry: AuditEntry): void
}

export interface Services {
  readonly upstreams: Upstreams
  readonly questions: Questions
  readonly audit: AuditTrail
  /** Returns where requests to `target` are sent in place of its own address; undefined where they go there. */
  readonly dialled: (target: Authority) => string | undefined
  /** Debug log. */
  readonly log: (event: object) => void
}
