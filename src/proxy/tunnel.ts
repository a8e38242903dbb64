import type { Socket } from 'node:net'

/** Joins two sockets: bytes both ways, each end passed on as an end, with backpressure. Loses one with the other. */
export function joinSockets(child: Socket, upstream: Socket): void {
  for (const [socket, other] of [
    [child, upstream],
    [upstream, child],
  ] as const) {
    socket.setKeepAlive(true, 30_000)
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      // After two orderly ends both are closing by themselves, perhaps with bytes still to be written.
      if (!socket.readableEnded || !socket.writableFinished) other.destroy()
    })
    socket.pipe(other)
  }
}
