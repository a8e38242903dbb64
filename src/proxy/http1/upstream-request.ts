import type { Socket } from 'node:net'
import {
  type AnswerEvents,
  type Body,
  type BodySink,
  type Field,
  type Loss,
  type OutgoingRequest,
  type RequestHead,
  resized,
  type UpstreamStream,
} from '../messages/index.ts'
import { AnswerBody } from './answer-body.ts'
import { chunkOf, lastChunk } from './chunk-writer.ts'
import { GatheredBytes } from './gathered-bytes.ts'
import { HeadSearch } from './head-search.ts'
import { MAX_HEAD_BYTES, Malformed } from './header-fields.ts'
import { joined } from './joined.ts'
import { keepAlive } from './keep-alive.ts'
import { requestText } from './request-writer.ts'
import { type Http1ResponseHead, parseResponseHead, STATUS_LINE } from './response-head.ts'

/** An upstream connection in the hands of one request. */
export interface Checkout {
  readonly socket: Socket
  /** Whether it carried a request before. */
  readonly reused: boolean
  /** Takes it back at a clean message boundary. */
  keep(): void
  /** Closes it. */
  discard(): void
}

const UNTIL_CLOSE = { kind: 'until_close' } as const
const MALFORMED: Loss = { reason: 'protocol', unread: false }

/** One request on an upstream connection: writes it, and reads its answer strictly, interim ones included. */
export class UpstreamRequest implements UpstreamStream, BodySink {
  readonly #checkout: Checkout
  readonly #socket: Socket
  #request: RequestHead | undefined
  #requestBody: Body | undefined
  /** Waits for the first piece of the body, to leave with it. */
  #requestHead = ''
  /** A request whose head says how long its body is, which is not known yet. */
  #waiting: OutgoingRequest | undefined
  /** Whether the body is put into chunks here: it came without a length, and without chunks. */
  #chunks = false
  #requestDone = false
  /** Undefined before it was sent, and after it was given back. */
  #events: AnswerEvents | undefined
  readonly #pending = new GatheredBytes()
  readonly #search = new HeadSearch(STATUS_LINE)
  /** Bytes of interim answers: a service that sends nothing else gets to the bound of a head. */
  #interim = 0
  #head: Http1ResponseHead | undefined
  #body: AnswerBody | undefined
  #state: 'open' | 'done' | 'switched' | 'malformed' = 'open'
  /** Whether any byte of an answer came. */
  #started = false
  /** Whether bytes came behind the end of the answer. */
  #overran = false
  #closed = false
  #endTold = false

  constructor(checkout: Checkout) {
    this.#checkout = checkout
    this.#socket = checkout.socket
  }

  send(request: OutgoingRequest, body: Body, events: AnswerEvents): void {
    this.#events = events
    this.#request = request.head
    this.#requestBody = body
    const { kind } = request.head.framing
    this.#chunks = kind === 'until_close' || (kind === 'chunked' && request.decoder !== undefined)
    if (request.waitsForBody) this.#waiting = request
    else this.#requestHead = requestText(request)
    body.flowTo(this, request)
  }

  release(): void {
    this.#events = undefined
    if (this.#isClean) this.#checkout.keep()
    else this.#checkout.discard()
  }

  discard(): void {
    this.#events = undefined
    this.#checkout.discard()
  }

  /** A piece of the request's body. */
  write(piece: Buffer): boolean {
    if (this.#waiting !== undefined) {
      const known = resized(this.#waiting)
      if (known === undefined) return true
      this.#waiting = undefined
      this.#requestHead = requestText(known)
    }
    const body = this.#chunks ? chunkOf(piece) : piece
    const bytes = this.#requestHead === '' ? body : joined(this.#requestHead, body, undefined)
    this.#requestHead = ''
    return bytes.length === 0 || this.#socket.write(bytes)
  }

  /** The request's body is over: what it is framed in says so by itself, but for bytes that are no HTTP. */
  end(trailers?: readonly Field[]): void {
    this.#requestDone = true
    if (this.#chunks) this.#socket.write(lastChunk(trailers))
    if (this.#state === 'switched') this.#socket.end()
  }

  onData(chunk: Buffer): void {
    this.#started = true
    if (this.#state === 'malformed') return
    if (this.#body === undefined) this.#readHeads(chunk)
    else this.#readBody(this.#body, chunk, 0)
    this.#tell()
  }

  /** The answer that was held goes on. */
  onTaken(): void {
    this.#tell()
  }

  onDrain(): void {
    this.#requestBody?.resume()
  }

  /** The other side sent its end, in order, after all its data. */
  onEnd(): void {
    this.#body?.close()
    if (this.#state === 'switched') this.#body?.end()
    else this.#lose()
  }

  /** The connection is gone. */
  onClose(): void {
    if (this.#state === 'switched') this.#events?.onLost({ reason: 'upstream_abort', unread: false })
    else this.#lose()
  }

  #lose(): void {
    if (this.#body?.done && this.#state === 'open') this.#state = 'done'
    this.#closed = true
    this.#tell()
  }

  /** Whether the connection is at a message boundary, and may carry another request. */
  get #isClean(): boolean {
    if (this.#request === undefined) return true
    const isKept = this.#head?.reusable === true && !this.#overran && this.#request.version === '1.1'
    return this.#state === 'done' && this.#requestDone && isKept
  }

  /** Tells how far the answer is; of one that is held, when it is taken. */
  #tell(): void {
    if (this.#body?.isHeld) return
    if (this.#state === 'malformed') this.#events?.onLost(MALFORMED)
    else if (this.#state === 'done' && !this.#endTold) {
      this.#endTold = true
      this.#body?.end()
      this.#events?.onAnswerEnd()
    }
    if (this.#closed)
      this.#events?.onLost({ reason: 'upstream_abort', unread: this.#checkout.reused && !this.#started })
  }

  #readHeads(chunk: Buffer): void {
    this.#pending.append(chunk)
    while (this.#readHead());
  }

  /** One head; false where it needs more bytes, or no further one is to be read. */
  #readHead(): boolean {
    const { bytes } = this.#pending
    const end = this.#search.find(bytes)
    if (end === undefined) return false
    if (end instanceof Malformed) return this.#break()
    const head = this.#parse(bytes, end)
    if (head === undefined) return this.#break()
    if (head.status >= 200 || head.status === 101) {
      this.#pending.clear()
      this.#beginAnswer(head, bytes, end)
      return false
    }
    this.#interim += end
    if (this.#interim > MAX_HEAD_BYTES) return this.#break()
    this.#events?.onInterim(head)
    this.#pending.drop(end)
    return true
  }

  #break(): false {
    this.#state = 'malformed'
    return false
  }

  #parse(bytes: Buffer, end: number): Http1ResponseHead | undefined {
    const { method = '', upgrade = false } = this.#request ?? {}
    const head = parseResponseHead(bytes.toString('latin1', 0, end), method, bytes.subarray(0, end))
    return head instanceof Malformed || (head.status === 101 && !upgrade) ? undefined : head
  }

  #beginAnswer(head: Http1ResponseHead, bytes: Buffer, end: number): void {
    this.#head = head
    const isSwitch = head.status === 101
    const body = new AnswerBody(isSwitch ? UNTIL_CLOSE : head.framing, this.#socket, this)
    this.#body = body
    if (isSwitch) {
      this.#state = 'switched'
      keepAlive(this.#socket)
      this.#events?.onSwitched(head, body)
    } else this.#events?.onAnswer(head, body)
    this.#readBody(body, bytes, end)
  }

  #readBody(body: AnswerBody, bytes: Buffer, from: number): void {
    const taken = body.read(bytes, from)
    this.#overran ||= body.done && taken < bytes.length
    if (body.malformed) this.#state = 'malformed'
    else if (body.done && this.#state === 'open') this.#state = 'done'
  }
}
