import type { Socket } from 'node:net'
import type { Authority } from '../network/index.ts'
import { type ChildSide, Exchange, type Order, type Services } from './exchange/index.ts'
import {
  type AfterRefusal,
  cannotBecomeHead,
  findHeadEnd,
  isBodiless,
  jsonAnswer,
  MAX_HEAD_BYTES,
  Malformed,
  parseRequestHead,
  type RequestHead,
  refusalAnswer,
} from './http1/index.ts'
import { malformedRequest, type Refusal } from './messages/index.ts'

/** What is to be done with a request. */
export type Verdict =
  | Order
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  | ConnectOrder
  /** JSON of the proxy itself. */
  | { readonly kind: 'answer'; readonly body: string }

export interface ConnectOrder {
  readonly kind: 'connect'
  readonly target: Authority
  /** Tunnelled as it is, whatever the host. */
  readonly isUntouched: boolean
}

/** Decides on each request by its head alone, and hears of those that were refused before an exchange began. */
export interface Judge {
  judge(head: RequestHead): Verdict
  refused(refusal: Refusal, head: RequestHead | undefined): void
  /** Takes the connection over after CONNECT; `rest` came behind its head. */
  connect?(order: ConnectOrder, rest: Buffer): void
}

interface RelayOptions {
  /** What requests are read from. */
  readonly socket: Socket
  /** The TCP socket under it; the same where there is no TLS. */
  readonly transport: Socket
  readonly judge: Judge
  readonly services: Services
}

const EMPTY = Buffer.alloc(0)
/** Bytes kept from the child while they cannot be sent on. */
const MAX_PENDING = 65_536
const HEAD_TIME_LIMIT = 30_000
const CLOSE_TIME_LIMIT = 2_000

/** One connection of the child: reads its requests strictly, one after the other, and answers them in order. */
export class Relay implements ChildSide {
  readonly socket: Socket
  readonly #transport: Socket
  readonly #judge: Judge
  readonly #services: Services
  #pending: Buffer = EMPTY
  #searched = 0
  #method = ''
  #exchange: Exchange | undefined
  #headTimer: NodeJS.Timeout | undefined
  #blocked = false
  #closing = false
  #proceeding = false

  constructor({ socket, transport, judge, services }: RelayOptions) {
    this.socket = socket
    this.#transport = transport
    this.#judge = judge
    this.#services = services
    socket.on('data', this.#onData)
    socket.on('drain', this.#onDrain)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
    socket.on('error', ignore)
    services.relays.add(this)
  }

  upstreamReady(): void {
    this.#proceed()
  }

  uploadBlocked(blocked: boolean): void {
    this.#blocked = blocked
    this.#updateReading()
  }

  refuse(refusal: Refusal): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#blocked = false
    this.#answer(refusal, exchange?.keepsChild ? 'keep' : 'close')
    this.#proceed()
  }

  finished(next: 'keep' | 'close' | 'abort' | 'reset'): void {
    this.#exchange = undefined
    this.#blocked = false
    if (next === 'keep') this.#proceed()
    else if (next === 'close') this.#close()
    else if (next === 'abort') this.socket.destroySoon()
    else this.#reset()
  }

  /** Gives the connection up at once, and tells of the request that was under way. */
  abandon(): void {
    this.#onClose()
    this.socket.destroy()
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#closing) return
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    this.#proceed()
  }

  readonly #onDrain = (): void => {
    if (this.#exchange === undefined) this.#proceed()
    else this.#exchange.childDrained()
  }

  readonly #onEnd = (): void => {
    // Half a connection within a request counts as giving the request up.
    if (this.#exchange?.switched) this.#exchange.childEnded()
    else if (this.#exchange !== undefined) this.socket.destroy()
    else this.socket.end()
  }

  readonly #onClose = (): void => {
    this.#services.relays.delete(this)
    clearTimeout(this.#headTimer)
    this.#exchange?.childGone()
    this.#exchange = undefined
    this.#pending = EMPTY
  }

  /** Does what can be done with the bytes at hand. */
  #proceed(): void {
    if (this.#proceeding) return
    this.#proceeding = true
    while (!this.#closing && !this.socket.destroyed && this.#step());
    this.#proceeding = false
    this.#updateReading()
  }

  /** One step; false where it needs more bytes, or the answer of someone else. */
  #step(): boolean {
    // A child that does not read its answers gets no further ones begun.
    if (this.#exchange === undefined) return !this.socket.writableNeedDrain && this.#readHead()
    return this.#exchange.wantsUpload && this.#uploadPending(this.#exchange)
  }

  #uploadPending(exchange: Exchange): boolean {
    const pending = this.#pending
    const taken = exchange.upload(pending)
    if (taken === -1) {
      this.#exchange = undefined
      this.#answer(malformedRequest(new Malformed('body')), 'close')
      return false
    }
    // Also where the exchange ended within the upload: what was taken is never read again.
    if (!this.#closing) this.#pending = taken === pending.length ? EMPTY : pending.subarray(taken)
    return this.#exchange !== exchange
  }

  #readHead(): boolean {
    if (this.#pending.length === 0) return false
    const end = findHeadEnd(this.#pending, this.#searched)
    if (end === -1 ? this.#pending.length > MAX_HEAD_BYTES : end > MAX_HEAD_BYTES) {
      return this.#refuseHead(new Malformed('head_too_large', 431))
    }
    if (end === -1) return this.#awaitHead()
    clearTimeout(this.#headTimer)
    this.#headTimer = undefined
    this.#searched = 0
    const head = parseRequestHead(this.#pending.toString('latin1', 0, end))
    if (head instanceof Malformed) return this.#refuseHead(head)
    this.#pending = end === this.#pending.length ? EMPTY : this.#pending.subarray(end)
    return this.#begin(head)
  }

  #awaitHead(): boolean {
    this.#searched = this.#pending.length
    if (cannotBecomeHead(this.#pending)) return this.#refuseHead(new Malformed('line_ending'))
    this.#headTimer ??= setTimeout(() => this.socket.destroy(), HEAD_TIME_LIMIT).unref()
    return false
  }

  #refuseHead(malformed: Malformed): boolean {
    const refusal = malformedRequest(malformed)
    this.#method = ''
    this.#judge.refused(refusal, undefined)
    this.#answer(refusal, 'close')
    return false
  }

  #begin(head: RequestHead): boolean {
    this.#method = head.method
    const verdict = this.#judge.judge(head)
    switch (verdict.kind) {
      case 'forward':
        this.#exchange = new Exchange(head, verdict, this, this.#services)
        this.#exchange.start()
        return true
      case 'refuse':
        this.#judge.refused(verdict.refusal, head)
        this.#answer(verdict.refusal, head.keepAlive && isBodiless(head.framing) ? 'keep' : 'close')
        return true
      case 'connect':
        this.#handOver(verdict)
        return false
      case 'answer':
        this.socket.write(jsonAnswer(verdict.body))
        this.#close()
        return false
    }
  }

  #handOver(order: ConnectOrder): void {
    this.socket.off('data', this.#onData)
    this.socket.off('drain', this.#onDrain)
    this.socket.off('end', this.#onEnd)
    this.socket.off('close', this.#onClose)
    this.#services.relays.delete(this)
    this.socket.pause()
    this.#closing = true
    this.#judge.connect?.(order, this.#pending)
  }

  #answer(refusal: Refusal, after: AfterRefusal): void {
    this.socket.write(refusalAnswer(refusal, this.#method, after))
    if (after === 'close') this.#close()
  }

  /** Ends the connection behind what was written; what the child still sends is read and dropped, so that no reset overtakes the answer. */
  #close(): void {
    this.#closing = true
    this.#pending = EMPTY
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
      this.#transport.resetAndDestroy()
      this.socket.destroy()
    })
  }

  #updateReading(): void {
    if (this.#closing || this.socket.destroyed) return
    const stop = this.#blocked || this.#pending.length > MAX_PENDING
    if (stop !== this.socket.isPaused()) stop ? this.socket.pause() : this.socket.resume()
  }
}

function ignore(): void {}
