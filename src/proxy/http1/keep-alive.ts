import type { Socket } from 'node:net'

const SILENCE = 30_000

/** Has a connection that left HTTP probed after half a minute of silence; it is never closed for being idle. */
export function keepAlive(socket: Socket): void {
  socket.setKeepAlive(true, SILENCE)
}
