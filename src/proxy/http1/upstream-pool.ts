import type { Socket } from 'node:net'
import { type Authority, formatAuthority } from '../../network/index.ts'
import { DialError, upstreamUnreachable } from '../messages/index.ts'

/** Who holds an upstream connection: told of everything that happens on it. */
export interface Lessee {
  onUpstreamData(chunk: Buffer): void
  onUpstreamDrain(): void
  /** The other side sent its end, in order, after all its data. */
  onUpstreamEnd(): void
  /** The connection is gone. */
  onUpstreamClose(): void
}

/** One upstream connection, leased to one request at a time. */
export class UpstreamConnection {
  readonly socket: Socket
  readonly key: string
  /** Whether it carried a request before. */
  reused = false
  lessee: Lessee | undefined
  idleSince = 0

  constructor(socket: Socket, key: string, onLost: (connection: UpstreamConnection) => void) {
    this.socket = socket
    this.key = key
    const lose = () => {
      socket.destroy()
      onLost(this)
    }
    socket.on('data', (chunk: Buffer) => {
      // Bytes that nobody asked for: whatever they are, they must not become the next request's answer.
      if (this.lessee === undefined) lose()
      else this.lessee.onUpstreamData(chunk)
    })
    socket.on('drain', () => this.lessee?.onUpstreamDrain())
    socket.on('end', () => {
      if (this.lessee === undefined) lose()
      else this.lessee.onUpstreamEnd()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      onLost(this)
      this.lessee?.onUpstreamClose()
    })
  }
}

type LeaseOutcome = UpstreamConnection | DialError
type Dial = (target: Authority) => Promise<Socket>

const MAX_IDLE_EACH = 64
const MAX_IDLE_MS = 30_000

function lostAtOnce({ host }: Authority): DialError {
  return new DialError(upstreamUnreachable(host, 'reset'))
}

/** Idle upstream connections by host and port, the one used last first. */
export class UpstreamPool {
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

  /** Leases an idle connection, at once, or a fresh one. `taken` is called exactly once. */
  lease(target: Authority, choice: 'any' | 'fresh', taken: (outcome: LeaseOutcome) => void): void {
    const key = formatAuthority(target)
    const idle = choice === 'any' ? this.#takeIdle(key) : undefined
    if (idle !== undefined) {
      idle.reused = true
      taken(idle)
      return
    }
    this.#dial(target).then(
      (socket) => taken(socket.destroyed ? lostAtOnce(target) : this.#adopt(socket, key)),
      (error: unknown) => {
        if (!(error instanceof DialError)) throw error
        taken(error)
      },
    )
  }

  /** Takes a connection back at a clean message boundary. */
  release(connection: UpstreamConnection): void {
    connection.lessee = undefined
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

  /** Closes a connection whose state is not known to be clean. */
  discard(connection: UpstreamConnection): void {
    connection.lessee = undefined
    connection.socket.destroy()
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
    const connection = new UpstreamConnection(socket, key, (lost) => this.#forget(lost))
    this.#all.add(connection)
    if (this.#closed) socket.destroy()
    return connection
  }

  #forget(connection: UpstreamConnection): void {
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
