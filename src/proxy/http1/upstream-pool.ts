import type { Socket } from 'node:net'
import { type Authority, formatAuthority } from '../../network/index.ts'
import {
  DialError,
  type LeaseTerms,
  type UpstreamStream,
  type Upstreams,
  upstreamUnreachable,
} from '../messages/index.ts'
import { type Checkout, UpstreamRequest } from './upstream-request.ts'

/** Who has an upstream connection: told of everything that happens on it. */
interface Holder {
  onData(chunk: Buffer): void
  onDrain(): void
  /** The other side sent its end, in order, after all its data. */
  onEnd(): void
  /** The connection is gone. */
  onClose(): void
}

/** One upstream connection, in the hands of one request at a time. */
class UpstreamConnection implements Checkout {
  readonly socket: Socket
  readonly key: string
  reused = false
  holder: Holder | undefined
  idleSince = 0
  readonly #pool: UpstreamPool

  constructor(socket: Socket, key: string, pool: UpstreamPool) {
    this.socket = socket
    this.key = key
    this.#pool = pool
    const lose = () => {
      socket.destroy()
      pool.forget(this)
    }
    socket.on('data', (chunk: Buffer) => {
      // Bytes that nobody asked for: whatever they are, they must not become the next request's answer.
      if (this.holder === undefined) lose()
      else this.holder.onData(chunk)
    })
    socket.on('drain', () => this.holder?.onDrain())
    socket.on('end', () => {
      if (this.holder === undefined) lose()
      else this.holder.onEnd()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      pool.forget(this)
      this.holder?.onClose()
    })
  }

  /** Hands it to a request. */
  checkOut(): UpstreamRequest {
    const request = new UpstreamRequest(this)
    this.holder = request
    return request
  }

  keep(): void {
    this.holder = undefined
    this.#pool.keep(this)
  }

  discard(): void {
    this.holder = undefined
    this.socket.destroy()
  }
}

type Dial = (target: Authority) => Promise<Socket>

const MAX_IDLE_EACH = 64
const MAX_IDLE_MS = 30_000

function lostAtOnce({ host }: Authority): DialError {
  return new DialError(upstreamUnreachable(host, 'reset'))
}

/** Idle upstream connections by host and port, the one used last first. */
export class UpstreamPool implements Upstreams {
  readonly #dial: Dial
  readonly #idle = new Map<string, UpstreamConnection[]>()
  readonly #all = new Set<UpstreamConnection>()
  readonly #sweep: NodeJS.Timeout
  #closed = false

  constructor(dial: Dial) {
    this.#dial = dial
    this.#sweep = setInterval(() => this.#closeIdle(Date.now() - MAX_IDLE_MS), MAX_IDLE_MS / 2)
    this.#sweep.unref()
  }

  lease(target: Authority, { choice }: LeaseTerms, taken: (outcome: UpstreamStream | DialError) => void): void {
    const key = formatAuthority(target)
    const idle = choice === 'any' ? this.#takeIdle(key) : undefined
    if (idle !== undefined) {
      idle.reused = true
      taken(idle.checkOut())
      return
    }
    this.#dial(target).then(
      (socket) => taken(this.streamOn(socket, target)),
      (error: unknown) => {
        if (!(error instanceof DialError)) throw error
        taken(error)
      },
    )
  }

  /** The first stream on a connection that was dialled to `target`. */
  streamOn(socket: Socket, target: Authority): UpstreamStream | DialError {
    return socket.destroyed ? lostAtOnce(target) : this.#adopt(socket, formatAuthority(target)).checkOut()
  }

  /** Puts a connection that is at a clean message boundary among the idle ones. */
  keep(connection: UpstreamConnection): void {
    const { socket, key } = connection
    const idle = this.#idle.get(key) ?? []
    if (this.#closed || socket.destroyed || !socket.writable || idle.length >= MAX_IDLE_EACH) {
      socket.destroy()
      return
    }
    // Flowing even while idle, so that its end is seen.
    if (socket.isPaused()) socket.resume()
    connection.idleSince = Date.now()
    idle.push(connection)
    this.#idle.set(key, idle)
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#sweep)
    for (const { socket } of this.#all) socket.destroy()
  }

  #takeIdle(key: string): UpstreamConnection | undefined {
    const idle = this.#idle.get(key)
    for (let last = idle?.pop(); last !== undefined; last = idle?.pop()) {
      if (last.socket.writable && !last.socket.readableEnded) return last
      last.socket.destroy()
    }
    return undefined
  }

  #adopt(socket: Socket, key: string): UpstreamConnection {
    const connection = new UpstreamConnection(socket, key, this)
    this.#all.add(connection)
    if (this.#closed) socket.destroy()
    return connection
  }

  /** Takes a connection that is gone off the lists. */
  forget(connection: UpstreamConnection): void {
    this.#all.delete(connection)
    const idle = this.#idle.get(connection.key)
    const at = idle?.indexOf(connection) ?? -1
    if (at !== -1) idle?.splice(at, 1)
    if (idle?.length === 0) this.#idle.delete(connection.key)
  }

  #closeIdle(before: number): void {
    for (const connections of [...this.#idle.values()]) {
      for (const connection of [...connections]) if (connection.idleSince < before) connection.socket.destroy()
    }
  }
}
