import type { Socket } from 'node:net'
import {
  answerOf,
  answerWith,
  type Body,
  type BodySink,
  type ChildStream,
  type Field,
  type Passage,
  type Refusal,
  type RequestEvents,
  type ResponseHead,
} from '../messages/index.ts'
import { ChildBody } from './child-body.ts'
import { chunkOf, lastChunk } from './chunk-writer.ts'
import { adjoined, joined } from './joined.ts'
import { keepAlive } from './keep-alive.ts'
import { type AfterAnswer, answerBytes } from './own-answer.ts'
import type { Http1RequestHead } from './request-head.ts'
import { writtenHead } from './response-head.ts'

/** The connection that a request came on. */
export interface Connection {
  readonly socket: Socket
  proceed(): void
  block(blocked: boolean): void
  /** The request is over, and `last` all that is still to be written. */
  done(next: 'keep' | 'close' | 'abort' | 'reset', last?: Buffer): void
  /** Reads no further; returns what was read behind the request. */
  detach(): Buffer
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const AS_IT_CAME: Passage = { injected: new Set() }

/** One request on a connection of the child, and the writer of its answer. */
export class ChildRequest implements ChildStream, BodySink {
  readonly version = 'http/1.1'
  readonly head: Http1RequestHead
  readonly body: ChildBody
  /** Whether the connection left HTTP with this request. */
  switched = false

  readonly #connection: Connection
  #events: RequestEvents | undefined
  #answer: Body | undefined
  /** Waits for the first piece of the body, to leave with it. */
  #answerHead: Buffer | string = ''
  #closes = false
  #endsWithConnection = false
  /** Whether the answer is put into chunks here: it came without a length, and without chunks. */
  #chunks = false

  constructor(head: Http1RequestHead, connection: Connection) {
    this.head = head
    this.#connection = connection
    this.body = new ChildBody(head.framing, this)
  }

  listen(events: RequestEvents): void {
    this.#events = events
  }

  invite(): void {
    this.#connection.socket.write(CONTINUE)
  }

  interim(head: ResponseHead): void {
    if (this.head.version !== '1.0') this.#connection.socket.write(writtenHead(head, 'keep'), 'latin1')
  }

  respond(head: ResponseHead, body: Body): void {
    const isOpenEnded = head.framing.kind === 'until_close'
    this.#chunks = isOpenEnded && head.statusLine === undefined && this.head.version === '1.1'
    this.#endsWithConnection = isOpenEnded && !this.#chunks
    this.#closes = !this.head.keepAlive || head.version === '1.0' || this.#endsWithConnection
    this.#answerHead = writtenHead(this.#chunks ? inChunks(head) : head, this.#closes ? 'close' : 'keep')
    this.#take(body)
  }

  switchTo(head: ResponseHead, body: Body): void {
    this.switched = true
    keepAlive(this.#connection.socket)
    this.#answerHead = head.exact ?? writtenHead(head, 'keep')
    this.#take(body)
    this.body.passAll()
  }

  refuse(refusal: Refusal): void {
    const next: AfterAnswer = this.body.done && this.head.keepAlive ? 'keep' : 'close'
    this.#connection.done(next, answerBytes(answerOf(refusal), this.head.method, next))
  }

  tell(json: string): void {
    this.#connection.done('close', answerBytes(answerWith(json), this.head.method, 'close'))
  }

  finish(): void {
    this.#connection.done(this.body.done && !this.#closes ? 'keep' : 'close')
  }

  abort(): void {
    if (this.switched) this.#connection.socket.destroy()
    else this.#connection.done(this.#endsWithConnection ? 'reset' : 'abort')
  }

  /** Hands the connection over, once the request was CONNECT; returns what came behind its head. */
  takeOver(): Buffer {
    return this.#connection.detach()
  }

  /** A piece of the answer's body. */
  write(piece: Buffer): boolean {
    const head = this.#answerHead
    this.#answerHead = ''
    const body = this.#chunks ? chunkOf(piece) : piece
    const bytes = typeof head === 'string' ? joined(head, body, undefined) : adjoined(head, body)
    return bytes.length === 0 || this.#connection.socket.write(bytes)
  }

  /** The answer's body is over: what it is framed in says so by itself, but for bytes that are no HTTP. */
  end(trailers?: readonly Field[]): void {
    if (this.#chunks) this.#connection.socket.write(lastChunk(trailers))
    if (this.switched) this.#connection.socket.end()
  }

  /** The child read what was written. */
  drained(): void {
    this.#answer?.resume()
  }

  gone(): void {
    this.#events?.onGone()
  }

  proceed(): void {
    this.#connection.proceed()
  }

  block(blocked: boolean): void {
    this.#connection.block(blocked)
  }

  onBodyEnd(): void {
    this.#events?.onRequestEnd()
  }

  onBodyMalformed(): void {
    this.#events?.onRequestMalformed()
  }

  #take(body: Body): void {
    this.#answer = body
    body.flowTo(this, AS_IT_CAME)
  }
}

function inChunks(head: ResponseHead): ResponseHead {
  const field: Field = { name: 'transfer-encoding', value: 'chunked', spelled: 'Transfer-Encoding' }
  return { ...head, fields: [...head.fields.filter(({ name }) => name !== 'content-length'), field] }
}
