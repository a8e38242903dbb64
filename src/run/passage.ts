import { once } from 'node:events'
import { connect, createServer, type ListenOptions, type NetConnectOpts, type Server, type Socket } from 'node:net'
import { joinSockets } from '../proxy/index.ts'

const SOCKET = { allowHalfOpen: true, noDelay: true } as const

/** Listens at one address, and passes the bytes of each connection on to another; it keeps no process alive. */
export async function openPassage(
  from: ListenOptions,
  to: NetConnectOpts,
  onOpen: (socket: Socket) => void = () => {},
): Promise<Server> {
  const server = createServer(SOCKET, (inside) => {
    const outside = connect({ ...to, allowHalfOpen: true })
    outside.once('connect', () => onOpen(outside))
    joinSockets(inside, outside)
  })
  await once(server.listen(from).unref(), 'listening')
  return server
}
