import type { Socket } from 'node:net'
import { malformedRequest, type Refusal } from '../messages/index.ts'
import { ChildRequest, type Connection } from './child-request.ts'
import { GatheredBytes } from './gathered-bytes.ts'
import { HeadSearch } from './head-search.ts'
import { Malformed } from './header-fields.ts'
import { lastRefusal } from './own-answer.ts'
import { parseRequestHead } from './request-head.ts'

interface ChildConnectionOptions {
  /** What requests are read from. */
  readonly socket: Socket
  /** The TCP socket under it; the same where there is no TLS. */
  readonly transport: Socket
  /** Where it is listed for as long as requests are read from it. */
  readonly open: Set<{ abandon(): void }>
  /** Takes each request, once the answer to the one before is complete. */
  readonly onRequest: (request: ChildRequest) => void
  /** Tells of a child that said its end whether it is still there, to read what comes. */
  readonly isHalfClosed: () => boolean
  /** Hears of bytes that were refused as no request, and answered. */
  readonly onMalformed: (refusal: Refusal) => void
}

/** Bytes kept from the child while they cannot be sent on. */
const MAX_PENDING = 65_536
const HEAD_TIME_LIMIT = 30_000
const CLOSE_TIME_LIMIT = 2_000
const WATCHED_EVERY = 1_000

/** One connection of the child: reads its requests strictly, one after the other, and answers them in order. */
export class ChildConnection implements Connection {
  readonly socket: Socket
  readonly #options: ChildConnectionOptions
  readonly #pending = new GatheredBytes()
  readonly #search = new HeadSearch()
  #request: ChildRequest | undefined
  #headTimer: NodeJS.Timeout | undefined
  #blocked = false
  #closing = false
  /** Whether the child said its end, and reads on. */
  #hasEnded = false
  /** Nobody says when such a child goes away. */
  #watch: NodeJS.Timeout | undefined
  #proceeding = false

  constructor(options: ChildConnectionOptions) {
    const { socket, open } = options
    this.socket = socket
    this.#options = options
    socket.on('data', this.#onData)
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
    socket.on('error', ignore)
    open.add(this)
  }

  block(blocked: boolean): void {
    this.#blocked = blocked
    this.#updateReading()
  }

  done(next: 'keep' | 'close' | 'abort' | 'reset', last?: Buffer): void {
    this.#request = undefined
    this.#blocked = false
    if (last !== undefined) this.socket.write(last)
    if (next === 'keep') this.proceed()
    else if (next === 'close') this.#close()
    else if (next === 'abort') this.socket.destroySoon()
    else this.#reset()
  }

  /** Gives the connection up at once, and tells of the request that was under way. */
  abandon(): void {
    this.#onClose()
    this.socket.destroy()
  }

  detach(): Buffer {
    this.socket.off('data', this.#onData)
    this.socket.off('drain', this.#onDrain)
    this.socket.off('end', this.#onEnd)
    this.socket.off('close', this.#onClose)
    this.#options.open.delete(this)
    this.socket.pause()
    this.#closing = true
    return this.#pending.bytes
  }

  /** Does what can be done with the bytes at hand. */
  proceed(): void {
    if (this.#proceeding) return
    this.#proceeding = true
    while (!this.#closing && !this.socket.destroyed && this.#step());
    this.#proceeding = false
    if (this.#hasEnded && !this.#closing) this.#endBehind(this.#request)
    this.#updateReading()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#closing) return
    this.#pending.append(chunk)
    this.proceed()
  }

  readonly #onDrain = (): void => {
    if (this.#request === undefined) this.proceed()
    else this.#request.drained()
  }

  readonly #onEnd = (): void => {
    if (this.#request?.switched) this.#request.body.end()
    else if (this.#request === undefined) this.socket.end()
    else if (this.#options.isHalfClosed()) {
      this.#hasEnded = true
      this.#watch = setInterval(() => this.#options.isHalfClosed() || this.socket.destroy(), WATCHED_EVERY).unref()
      this.proceed()
    } else this.socket.destroy()
  }

  /** Nothing more comes: a request that is whole gets its answer, and one that is not was given up. */
  #endBehind(request: ChildRequest | undefined): void {
    if (request === undefined) {
      // Of a child that is slow to read, requests may wait behind the answers to others.
      if (this.#pending.bytes.length === 0 || !this.socket.writableNeedDrain) this.#close()
    } else if (request.body.isWanted && !request.body.done) this.socket.destroy()
  }

  readonly #onClose = (): void => {
    this.#options.open.delete(this)
    clearTimeout(this.#headTimer)
    clearInterval(this.#watch)
    this.#request?.gone()
    this.#request = undefined
    this.#pending.clear()
  }

  /** One step; false where it needs more bytes, or the answer of someone else. */
  #step(): boolean {
    const request = this.#request
    // A child that does not read its answers gets no further ones begun.
    if (request === undefined) return !this.socket.writableNeedDrain && this.#readHead()
    return request.body.isWanted && this.#readBody(request)
  }

  #readBody(request: ChildRequest): boolean {
    const taken = request.body.read(this.#pending.bytes)
    // Also where the exchange ended meanwhile: what was taken is never read again.
    if (!this.#closing) this.#pending.drop(taken)
    return this.#request !== request
  }

  #readHead(): boolean {
    const { bytes } = this.#pending
    if (bytes.length === 0) return false
    const end = this.#search.find(bytes)
    if (end === undefined) return this.#awaitHead()
    if (end instanceof Malformed) return this.#refuseHead(end)
    clearTimeout(this.#headTimer)
    this.#headTimer = undefined
    const head = parseRequestHead(bytes.toString('latin1', 0, end))
    if (head instanceof Malformed) return this.#refuseHead(head)
    this.#pending.drop(end)
    this.#request = new ChildRequest(head, this)
    this.#options.onRequest(this.#request)
    return true
  }

  #awaitHead(): boolean {
    this.#headTimer ??= setTimeout(() => this.socket.destroy(), HEAD_TIME_LIMIT).unref()
    return false
  }

  #refuseHead(malformed: Malformed): boolean {
    const refusal = malformedRequest(malformed)
    this.#options.onMalformed(refusal)
    this.done('close', lastRefusal(refusal))
    return false
  }

  /** Ends the connection behind what was written; what the child still sends is read and dropped, so that no reset overtakes the answer. */
  #close(): void {
    this.#closing = true
    this.#pending.clear()
    this.socket.end()
    this.socket.resume()
    // Counted from when all is written: a slow reader gets its whole answer.
    this.socket.once('finish', () => {
      const timer = setTimeout(() => this.socket.destroy(), CLOSE_TIME_LIMIT).unref()
      this.socket.once('close', () => clearTimeout(timer))
    })
  }

  /** The one way to show that a body which ends with the connection did not end well. */
  #reset(): void {
    this.#closing = true
    this.socket.write('', () => {
      this.#options.transport.resetAndDestroy()
      this.socket.destroy()
    })
  }

  #updateReading(): void {
    if (this.#closing || this.socket.destroyed) return
    const stop = this.#blocked || this.#pending.bytes.length > MAX_PENDING
    if (stop !== this.socket.isPaused()) stop ? this.socket.pause() : this.socket.resume()
  }
}

function ignore(): void {}
