import type { ClientHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { UpstreamStream } from '../messages/index.ts'
import { BOUNDS, http2, SESSION } from './node-http2.ts'
import { UpstreamRequest } from './upstream-request.ts'

interface UpstreamSessionOptions {
  /** A connection that was dialled to one service, and speaks HTTP/2. */
  readonly socket: Socket
  readonly scheme: 'http' | 'https'
  /** No further stream can be had of it. */
  readonly onGone: () => void
}

const CONNECTION_WINDOW = 16 * 1024 * 1024

/** One connection to a service that speaks HTTP/2: gives streams, as many side by side as the service wants. */
export class UpstreamSession {
  /** When its last stream was given; in milliseconds, as `Date.now()`. */
  usedAt = Date.now()
  readonly #session: ClientHttp2Session
  readonly #scheme: 'http' | 'https'
  #streams = 0
  #served = 0
  #isGone = false

  /** Resolves once the service has said what it can; rejects where the connection ends before. */
  static open(options: UpstreamSessionOptions, signal: AbortSignal): Promise<UpstreamSession> {
    const one = new UpstreamSession(options)
    const session = one.#session
    return new Promise((resolve, reject) => {
      const lost = () => {
        session.destroy()
        reject(Object.assign(new Error('no settings'), { code: signal.aborted ? 'ETIMEDOUT' : 'ECONNRESET' }))
      }
      session.once('close', lost)
      signal.addEventListener('abort', lost)
      session.once('remoteSettings', () => {
        session.off('close', lost)
        signal.removeEventListener('abort', lost)
        resolve(one)
      })
    })
  }

  private constructor({ socket, scheme, onGone }: UpstreamSessionOptions) {
    this.#scheme = scheme
    // The authority is said by each request; this one is only what Node wants to have.
    this.#session = http2().connect(`${scheme}://service.invalid`, {
      ...SESSION,
      createConnection: () => socket,
      settings: {
        enablePush: false,
        initialWindowSize: BOUNDS.initialWindowSize,
        maxHeaderListSize: BOUNDS.maxHeaderListSize,
      },
    })
    const gone = () => {
      this.#isGone = true
      onGone()
    }
    this.#session.on('goaway', gone)
    this.#session.on('close', gone)
    this.#session.on('error', () => {})
    this.#session.once('connect', () => {
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(CONNECTION_WINDOW)
    })
  }

  /** Whether it can take another stream. */
  get hasRoom(): boolean {
    return !this.#isGone && !this.#session.closed && this.#streams < this.#mostStreams
  }

  get isIdle(): boolean {
    return this.#streams === 0
  }

  /** Whether a WebSocket can be asked for on a stream (RFC 8441). */
  get canSwitch(): boolean {
    return this.#session.remoteSettings.enableConnectProtocol === true
  }

  /** A stream for one request. */
  checkOut(): UpstreamStream {
    this.#streams += 1
    this.#served += 1
    this.usedAt = Date.now()
    const onReturned = () => {
      this.#streams -= 1
      this.usedAt = Date.now()
    }
    return new UpstreamRequest({ session: this.#session, scheme: this.#scheme, reused: this.#served > 1, onReturned })
  }

  close(): void {
    this.#session.destroy()
  }

  get #mostStreams(): number {
    return Math.min(this.#session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY, MOST_STREAMS)
  }
}

/** However many a service would take: what waits for one lost connection is bounded. */
const MOST_STREAMS = 1_000
