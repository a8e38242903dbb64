import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { type Authority, formatAuthority } from '../network/index.ts'
import { UpstreamPool } from './http1/index.ts'
import { UpstreamSession } from './http2/index.ts'
import {
  DialError,
  type HttpVersion,
  type LeaseTerms,
  type UpstreamStream,
  type Upstreams,
  upstreamUnreachable,
} from './messages/index.ts'

type Taken = (outcome: UpstreamStream | DialError) => void

/** How services are reached: over TLS, where a service says by ALPN what it speaks, or in the clear, where it is told. */
export interface ServiceDialer {
  readonly scheme: 'http' | 'https'
  /** A connection that speaks one of `versions`, the first that the service has. Rejects with {@link DialError}. */
  dial(target: Authority, versions: readonly HttpVersion[]): Promise<Socket | TLSSocket>
  /** Which of them it speaks. */
  versionOf(socket: Socket | TLSSocket, asked: readonly HttpVersion[]): HttpVersion
  /** Tells an error by which a service that has nothing but HTTP/2 turned down HTTP/1.1. */
  wantsHttp2(error: DialError): boolean
}

interface Waiting {
  readonly terms: LeaseTerms
  readonly taken: Taken
}

const MAX_KNOWN = 256
const MAX_IDLE_MS = 30_000
const SETTINGS_TIME_LIMIT = 10_000

/**
 * Connections to services, by the version of HTTP that each side has: HTTP/1.1 wherever both have it, HTTP/2 with a service that
 * has nothing else, or for a child that speaks it. A session of HTTP/2 is for one authority and one connection's credential.
 */
export class ServiceConnections implements Upstreams {
  readonly #dialer: ServiceDialer
  readonly #pool: UpstreamPool
  readonly #sessions = new Map<string, UpstreamSession[]>()
  /** Who waits for a session that is being opened, by what it will be for. */
  readonly #opening = new Map<string, Waiting[]>()
  /** What a service said it speaks, by its authority. */
  readonly #known = new LRUCache<string, HttpVersion>({ max: MAX_KNOWN })
  readonly #sweep: NodeJS.Timeout
  #closed = false

  constructor(dialer: ServiceDialer) {
    this.#dialer = dialer
    this.#pool = new UpstreamPool((target) => dialer.dial(target, HTTP1))
    this.#sweep = setInterval(() => this.#closeIdle(Date.now() - MAX_IDLE_MS), MAX_IDLE_MS / 2)
    this.#sweep.unref()
  }

  lease(target: Authority, terms: LeaseTerms, taken: Taken): void {
    if (terms.version === 'h2') this.#leaseAsChild(target, terms, taken)
    else if (this.#known.size > 0 && this.#known.get(formatAuthority(target)) === 'h2') {
      this.#leaseSession(target, terms, taken)
    } else this.#leaseConnection(target, terms, taken)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#sweep)
    this.#pool.close()
    for (const session of [...this.#sessions.values()].flat()) session.close()
  }

  #leaseConnection(target: Authority, terms: LeaseTerms, taken: Taken): void {
    this.#pool.lease(target, terms, (outcome) => {
      if (!(outcome instanceof DialError) || !this.#dialer.wantsHttp2(outcome)) return taken(outcome)
      this.#known.set(formatAuthority(target), 'h2')
      this.#leaseSession(target, terms, taken)
    })
  }

  #leaseAsChild(target: Authority, terms: LeaseTerms, taken: Taken): void {
    if (this.#known.get(formatAuthority(target)) === 'http/1.1') this.#leaseConnection(target, terms, taken)
    else this.#leaseSession(target, terms, taken)
  }

  #leaseSession(target: Authority, terms: LeaseTerms, taken: Taken): void {
    const key = `${formatAuthority(target)} ${terms.account}`
    const open = terms.choice === 'any' ? this.#sessions.get(key)?.find(({ hasRoom }) => hasRoom) : undefined
    if (open !== undefined) this.#checkOut(open, target, { terms, taken })
    else this.#await(key, target, { terms, taken })
  }

  /** A WebSocket goes by an upgrade of HTTP/1.1 where the service has no other way. */
  #checkOut(session: UpstreamSession, target: Authority, { terms, taken }: Waiting): void {
    if (terms.switches && !session.canSwitch) this.#pool.lease(target, terms, taken)
    else taken(session.checkOut())
  }

  #await(key: string, target: Authority, waiting: Waiting): void {
    const others = this.#opening.get(key)
    if (others !== undefined) {
      others.push(waiting)
      return
    }
    const all = [waiting]
    this.#opening.set(key, all)
    this.#open(key, target, all).catch((error: unknown) => {
      if (!(error instanceof DialError)) throw error
      for (const { taken } of this.#taken(key, all)) taken(error)
    })
  }

  /** Dials once for all who wait, and serves them by what the service speaks. */
  async #open(key: string, target: Authority, all: Waiting[]): Promise<void> {
    const socket = await this.#dialer.dial(target, BOTH)
    const version = this.#dialer.versionOf(socket, BOTH)
    this.#known.set(formatAuthority(target), version)
    if (version === 'http/1.1') {
      const [first, ...rest] = this.#taken(key, all)
      first?.taken(this.#pool.streamOn(socket, target))
      for (const { terms, taken } of rest) this.#pool.lease(target, terms, taken)
      return
    }
    const session = await this.#begin(key, socket, target)
    for (const waiting of this.#taken(key, all)) {
      if (session.hasRoom) this.#checkOut(session, target, waiting)
      else this.#leaseSession(target, waiting.terms, waiting.taken)
    }
  }

  #taken(key: string, all: Waiting[]): readonly Waiting[] {
    if (this.#opening.get(key) === all) this.#opening.delete(key)
    return all
  }

  async #begin(key: string, socket: Socket, target: Authority): Promise<UpstreamSession> {
    let session: UpstreamSession | undefined
    const onGone = () => this.#forget(key, session)
    const { scheme } = this.#dialer
    try {
      session = await UpstreamSession.open({ socket, scheme, onGone }, AbortSignal.timeout(SETTINGS_TIME_LIMIT))
    } catch (error) {
      throw new DialError(upstreamUnreachable(target.host, 'protocol'), error)
    }
    this.#sessions.set(key, [...(this.#sessions.get(key) ?? []), session])
    if (this.#closed) session.close()
    return session
  }

  #forget(key: string, session: UpstreamSession | undefined): void {
    const left = this.#sessions.get(key)?.filter((one) => one !== session) ?? []
    if (left.length > 0) this.#sessions.set(key, left)
    else this.#sessions.delete(key)
  }

  #closeIdle(before: number): void {
    for (const session of [...this.#sessions.values()].flat()) {
      if (session.isIdle && session.usedAt < before) session.close()
    }
  }
}

const HTTP1: readonly HttpVersion[] = ['http/1.1']
const BOTH: readonly HttpVersion[] = ['h2', 'http/1.1']
