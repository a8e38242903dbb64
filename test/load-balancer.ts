import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type Cleanup, type DaemonOptions, type DaemonUnderTest, startDaemon } from './daemon-under-test.ts'
import { freePort } from './free-port.ts'

export interface Balanced {
  readonly daemons: readonly DaemonUnderTest[]
  /** All connections go to this one from now on. */
  to(index: number): DaemonUnderTest
  /** Starts another in the place of one that has ended. */
  again(index: number): Promise<void>
}

/** Daemons that are one address to their clients: each listens on a loopback address of its own, on one port. */
export async function startBalanced(t: Cleanup, all: readonly DaemonOptions[]): Promise<Balanced> {
  const port = await freePort()
  const addressOf = (index: number) => `127.0.0.${index + 2}`
  const start = (options: DaemonOptions, index: number) =>
    startDaemon(t, {
      ...options,
      env: { ...options.env, BROKER_PORT: String(port), BROKER_HOST: addressOf(index) },
    })
  const daemons = await Promise.all(all.map(start))
  let chosen = 0
  const sockets = new Set<Socket>()
  const balancer = createServer((client) => {
    const daemon = connect(port, addressOf(chosen))
    for (const [from, to] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  await once(balancer.listen(port, '127.0.0.1'), 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    balancer.close()
  })
  const at = (index: number) => {
    const daemon = daemons[index]
    if (daemon === undefined) throw new Error(`There is no daemon ${index}`)
    return daemon
  }
  return {
    daemons,
    to(index) {
      chosen = index
      return at(index)
    },
    async again(index) {
      daemons[index] = await start({ ...all[index], home: at(index).home }, index)
    },
  }
}
