import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { SandboxWay } from '../isolation/index.ts'
import { joinSockets } from '../proxy/index.ts'
import { openPassage } from './passage.ts'

/** A folder for sockets, and where the command sees it. */
export interface SocketFolders {
  readonly socketFolder: string
  readonly seenFolder: string
}

/** A port of the machine that a sandbox shares. */
export interface SharedPort {
  readonly way: SandboxWay
  close(): void
}

const HOST = '127.0.0.1'

/**
 * Shares a port of this machine's loopback with a sandbox: where something listens at it, the command reaches that; where nothing does,
 * what the command starts there is reached from outside.
 */
export async function sharePort(port: number, { socketFolder, seenFolder }: SocketFolders): Promise<SharedPort> {
  const name = `port-${port}.sock`
  const [path, socket] = [join(socketFolder, name), join(seenFolder, name)]
  const offered = await listenUnlessTaken(port)
  if (offered === undefined) {
    const passage = await openPassage({ path }, { host: HOST, port })
    return { way: { host: HOST, port, socket }, close: () => passage.close() }
  }
  const pairs = await pairUp(offered, path)
  return { way: { host: HOST, port, socket, offers: true }, close: () => pairs() }
}

async function listenUnlessTaken(port: number): Promise<Server | undefined> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true })
  const taken = once(server, 'error').then(() => true)
  const free = once(server.listen({ host: HOST, port }).unref(), 'listening').then(() => false)
  return (await Promise.race([taken, free])) ? undefined : server
}

/** Says to the sandbox that somebody came: a server that speaks first would wait for it otherwise. */
const CAME = Buffer.from([1])

/** Joins each connection from outside with one that waits in the sandbox. */
async function pairUp(offered: Server, path: string): Promise<() => void> {
  const waiting: Socket[] = []
  const callers: Socket[] = []
  const pair = () => {
    const [inside, caller] = [waiting[0], callers[0]]
    if (inside === undefined || caller === undefined) return
    waiting.shift()
    callers.shift()
    inside.write(CAME)
    joinSockets(caller, inside)
  }
  const within = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    waiting.push(socket)
    pair()
  })
  offered.on('connection', (caller: Socket) => {
    caller.on('error', () => caller.destroy())
    callers.push(caller)
    pair()
  })
  await once(within.listen(path).unref(), 'listening')
  return () => {
    offered.close()
    within.close()
    for (const socket of [...waiting, ...callers]) socket.destroy()
  }
}
