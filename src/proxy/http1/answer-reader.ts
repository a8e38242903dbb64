import { BodyFramer } from './body-framing.ts'
import { findHeadEnd, MAX_HEAD_BYTES, Malformed } from './header-fields.ts'
import type { RequestHead } from './request-head.ts'
import { parseResponseHead, type ResponseHead, rewriteResponseHead } from './response-head.ts'

const EMPTY: Buffer = Buffer.alloc(0)
const NO_NAMES: ReadonlySet<string> = new Set()

/** Who takes an answer as it is read. */
export interface AnswerTaker {
  /** The head of the final answer was read; none of it has been handed over yet. */
  onAnswerHead(head: ResponseHead): void
  /** What the child gets, interim answers included. */
  onAnswerBytes(bytes: Buffer): void
}

/** Reads the answer to one request, interim ones included, and hands over at once what the child gets of it. */
export class AnswerReader {
  /** `done`: the final answer is complete. `switched`: it was a 101 that was asked for, and everything since is the child's. */
  state: 'open' | 'done' | 'switched' | 'malformed' = 'open'
  /** The final answer's, or the 101's. */
  head: ResponseHead | undefined
  /** Whether any byte came. */
  started = false
  /** Whether bytes came behind the end of the answer. */
  overran = false
  /** Of the body. */
  bytes = 0

  readonly #request: RequestHead
  readonly #taker: AnswerTaker
  #pending: Buffer = EMPTY
  #body: BodyFramer | undefined

  constructor(request: RequestHead, taker: AnswerTaker) {
    this.#request = request
    this.#taker = taker
  }

  /** Whether the child's connection has to end with this answer. */
  get closesChild(): boolean {
    const { head } = this
    return !this.#request.keepAlive || head?.version === '1.0' || head?.framing.kind === 'until_close'
  }

  read(chunk: Buffer): void {
    this.started = true
    if (this.#body === undefined) this.#readHeads(chunk)
    else this.#readBody(this.#body, chunk, 0)
  }

  /** The upstream closed in order: the end of an answer that is delimited by it. */
  close(): void {
    this.#body?.close()
    if (this.#body?.done) this.state = 'done'
  }

  #readHeads(chunk: Buffer): void {
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    for (;;) {
      const end = findHeadEnd(bytes, 0)
      if (end === -1 && bytes.length <= MAX_HEAD_BYTES) {
        this.#pending = bytes
        return
      }
      const head = end === -1 || end > MAX_HEAD_BYTES ? new Malformed('head_too_large') : this.#parse(bytes, end)
      if (head instanceof Malformed) {
        this.state = 'malformed'
        return
      }
      if (head.status >= 200 || head.status === 101) {
        this.#pending = EMPTY
        this.#beginAnswer(head, bytes, end)
        return
      }
      this.#deliverInterim(head, bytes.subarray(0, end))
      bytes = bytes.subarray(end)
    }
  }

  #parse(bytes: Buffer, end: number): ResponseHead | Malformed {
    const head = parseResponseHead(bytes.toString('latin1', 0, end), this.#request.method)
    return head instanceof Malformed || head.status !== 101 || this.#request.upgrade ? head : new Malformed('status')
  }

  #deliverInterim(head: ResponseHead, bytes: Buffer): void {
    if (this.#request.version === '1.0') return
    const rewritten = rewriteResponseHead(head, 'keep')
    this.#taker.onAnswerBytes(rewritten === undefined ? bytes : Buffer.from(rewritten, 'latin1'))
  }

  #beginAnswer(head: ResponseHead, bytes: Buffer, end: number): void {
    this.head = head
    if (head.status === 101) {
      this.state = 'switched'
      this.#taker.onAnswerBytes(bytes)
      return
    }
    this.#taker.onAnswerHead(head)
    const body = new BodyFramer(head.framing, NO_NAMES)
    this.#body = body
    const rewritten = rewriteResponseHead(head, this.closesChild ? 'close' : 'keep')
    this.#readBody(body, bytes, end, rewritten ?? 'unchanged_head')
  }

  /** Reads the body from `from` on and hands it over behind its head: a rewritten one, or the bytes before `from` as they are. */
  #readBody(body: BodyFramer, bytes: Buffer, from: number, head: 'unchanged_head' | string = ''): void {
    const taken = body.read(bytes, from)
    this.bytes += taken - from
    const unchanged = head === 'unchanged_head'
    const passing = bytes.subarray(unchanged ? 0 : from, body.passEnd)
    this.#taker.onAnswerBytes(joined(unchanged ? '' : head, passing, body.trailers))
    if (body.malformed) this.state = 'malformed'
    else if (body.done) this.state = 'done'
    this.overran ||= body.done && taken < bytes.length
  }
}

/** Head, body bytes and trailers in one buffer, so that they go out in one write; copies only where there is more than one. */
export function joined(head: string, body: Buffer, trailers: Buffer | undefined): Buffer {
  if (head === '' && trailers === undefined) return body
  const out = Buffer.allocUnsafe(head.length + body.length + (trailers?.length ?? 0))
  out.write(head, 0, 'latin1')
  body.copy(out, head.length)
  trailers?.copy(out, head.length + body.length)
  return out
}
