/**
 * Opens connections, each way in turn: one that asks the proxy for a tunnel by itself, and one that knows of none and is
 * led through it by the preload. Started behind `broker run`; prints the milliseconds of each as JSON.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { withInherited } from './inherited-way.ts'
import { open, type Way } from './way.ts'

export interface ConnectionsPlan {
  readonly way: Way
  readonly rounds: number
}

export interface ConnectionTimes {
  readonly asked: readonly number[]
  readonly led: readonly number[]
}

const WARM_UP = 100

const { way, rounds } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ConnectionsPlan
const asking = withInherited(way)
const times = { asked: [] as number[], led: [] as number[] }
for (let round = -WARM_UP; round < rounds; round++) {
  const [asked, led] = [await timeOf(() => open(asking)), await timeOf(openUnaware)]
  if (round < 0) continue
  times.asked.push(asked)
  times.led.push(led)
}
process.stdout.write(JSON.stringify(times satisfies ConnectionTimes))
process.exit()

async function openUnaware(): Promise<TLSSocket> {
  const { host, caPem } = way
  const socket = connect({ host, port: 443, servername: host, ca: caPem, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  return socket
}

async function timeOf(opened: () => Promise<TLSSocket>): Promise<number> {
  const started = performance.now()
  const socket = await opened()
  const time = performance.now() - started
  socket.destroy()
  return time
}
