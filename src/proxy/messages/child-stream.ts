import type { Body, RequestBody } from './body.ts'
import type { HttpVersion, RequestHead, ResponseHead } from './head.ts'
import type { Refusal } from './refusal.ts'
import type { Reset } from './reset.ts'

/**
 * One request of the child and the way for its answer. An edge to the child makes one for each request: a connection of
 * HTTP/1.1 one after the other, a session of HTTP/2 many side by side.
 */
export interface ChildStream {
  readonly version: HttpVersion
  readonly head: RequestHead
  readonly body: RequestBody
  /** Sets who hears of what the child does from now on. */
  listen(events: RequestEvents): void
  /** Tells a child that waits for it (`Expect: 100-continue`) to send its body. */
  invite(): void
  /** Sends an interim answer, as often as there is one: 100, 102, 103, whatever else is below 200 and not 101. */
  interim(head: ResponseHead): void
  /** Sends the final answer: its head, and its body as it flows, with its trailers. */
  respond(head: ResponseHead, body: Body): void
  /** Sends the answer by which the stream leaves HTTP, and then bytes both ways, until one of both sides ends them. */
  switchTo(head: ResponseHead, body: Body): void
  /** Answers in place of the service. */
  refuse(refusal: Refusal): void
  /** Sends JSON of the proxy itself. */
  tell(json: string): void
  /** Request and answer are over: what comes next is another request. */
  finish(): void
  /** Shows the child that the answer did not end well: by a code in HTTP/2, by the loss of the connection in HTTP/1.1. */
  abort(reset: Reset): void
}

/** What an exchange hears of its request. */
export interface RequestEvents {
  /** The body was read to its end, and all of it handed over. */
  onRequestEnd(): void
  /** The body broke its grammar; nothing more of it comes. */
  onRequestMalformed(): void
  /** The child went away, or gave this request up. @param code with which it did so in HTTP/2 */
  onGone(code?: number): void
}
