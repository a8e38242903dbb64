import type { Authority } from '../../network/index.ts'
import type { Body, Passage } from './body.ts'
import type { DialError } from './dial-error.ts'
import type { Field, HttpVersion, RequestHead, ResponseHead } from './head.ts'
import type { Reset } from './reset.ts'

/** A request as it goes upstream: its head, with another target and other fields in place of its own. */
export interface OutgoingRequest extends Passage {
  readonly head: RequestHead
  readonly target: string
  readonly fields: readonly Field[]
  /** Set where the length of its body is known by the edit of that alone: its head goes out with the first piece. */
  readonly waitsForBody?: boolean
}

/** The way of one request to a service and of its answer back: a connection of HTTP/1.1 for this time, or a stream of HTTP/2. */
export interface UpstreamStream {
  /** Sends it once. {@link AnswerEvents} come from then on, perhaps before this returns, and none after the stream was given back. */
  send(request: OutgoingRequest, body: Body, events: AnswerEvents): void
  /** Gives it back, for others where it can serve them. */
  release(): void
  /** Gives it up at once, and what was sent on it. @param code with which HTTP/2 says so; CANCEL where absent */
  discard(code?: number): void
}

/** What a stream to a service is to be like. */
export interface LeaseTerms {
  /** `fresh` is a connection that nobody used before: what is lost on it was not lost by its age. */
  readonly choice: 'any' | 'fresh'
  /** What the child speaks. HTTP/2 is spoken with services that have nothing else, or with such a child. */
  readonly version: HttpVersion
  /** Whose credential goes there. Streams of two never share a connection of HTTP/2. */
  readonly account: string
  /** The request asks to leave HTTP. */
  readonly switches: boolean
}

/** Opens streams to services. */
export interface Upstreams {
  /** Calls `taken` once, at once or later. */
  lease(target: Authority, terms: LeaseTerms, taken: (outcome: UpstreamStream | DialError) => void): void
}

/** What an exchange hears of its answer. */
export interface AnswerEvents {
  onInterim(head: ResponseHead): void
  /** The final answer begins. Where its body is not taken within this call, the edge holds it, and no further event comes before it is. */
  onAnswer(head: ResponseHead, body: Body): void
  /** The stream left HTTP, as the request had asked: `body` is all that comes from now on. */
  onSwitched(head: ResponseHead, body: Body): void
  /** All of the body was handed over. */
  onAnswerEnd(): void
  /** Nothing more comes; perhaps behind the end of the answer, while the request still goes on. */
  onLost(loss: Loss): void
}

export interface Loss extends Reset {
  /**
   * The service may never have read the request: of HTTP/1.1, a connection that had served others closed before any byte of
   * an answer; of HTTP/2, REFUSED_STREAM, or a GOAWAY that leaves it out.
   */
  readonly unread: boolean
}
