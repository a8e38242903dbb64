import type { Socket } from 'node:net'

/** Far more than a command opens at one moment: of thousands, some wait to be read though they have shown all they need. */
const MAX_WAITING = 4_096
/** From the moment that a connection was taken to the end of the head that it is admitted by, in milliseconds. */
export const WAITING_TIME_LIMIT = 30_000

/**
 * Connections that have not shown yet that they may be here: a bounded number at a time, and none for long. Whoever shows it does
 * so at once, so that of too many the one that waits longest is closed.
 */
export class WaitingConnections {
  readonly #timers = new Map<Socket, NodeJS.Timeout>()
  readonly #most: number

  constructor(most = MAX_WAITING) {
    this.#most = most
  }

  add(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), WAITING_TIME_LIMIT).unref()
    this.#timers.set(socket, timer)
    socket.once('close', () => this.admit(socket))
    const [longest] = this.#timers.keys()
    if (this.#timers.size > this.#most) longest?.destroy()
  }

  /** From now on it may stay for as long as it wants. */
  admit(socket: Socket): void {
    clearTimeout(this.#timers.get(socket))
    this.#timers.delete(socket)
  }
}
