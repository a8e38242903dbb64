/**
 * The load generator: a process of its own that sends small requests over kept connections, by each way in turn. Started
 * behind `broker run`, whose proxy is one of the ways; prints what it found as JSON.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { withInherited } from './inherited-way.ts'
import { percentile } from './statistics.ts'
import { open, requestHead, type Way } from './way.ts'

/** What each connection sends, again and again: all the same small request, each one of its own path, or 64 KiB. */
export type Load = 'small' | 'paths' | 'uploads'

export interface LoadPlan {
  readonly ways: readonly Way[]
  /** Taken in turn. */
  readonly loads: readonly { readonly load: Load; readonly connections: number; readonly without?: readonly string[] }[]
  readonly rounds: number
  /** Of each round by each way. */
  readonly milliseconds: number
}

export interface Round {
  readonly way: string
  readonly load: Load
  readonly connections: number
  readonly rate: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** What a round leaves behind, the shipping of its audit events above all, must not weigh on the next. */
const SETTLE_MS = 250
const WARM_UP_MS = 1_000
const UPLOAD = 'u'.repeat(64 * 1024)

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LoadPlan
const ways = plan.ways.map(withInherited)
const found: Round[] = []
for (const { load, connections, without = [] } of plan.loads) {
  const compared = ways.filter(({ name }) => !without.includes(name))
  found.push(...(await measure(compared, load, connections)))
}
process.stdout.write(JSON.stringify(found))
process.exit()

async function measure(ways: readonly Way[], load: Load, connections: number): Promise<readonly Round[]> {
  const rounds: Round[] = []
  const clients = new Map<Way, readonly TLSSocket[]>()
  for (const way of ways) {
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(way)))
    clients.set(way, sockets)
    await burst(requestsOf(load, way, sockets), WARM_UP_MS)
    await delay(SETTLE_MS)
  }
  for (let round = 1; round <= plan.rounds; round++) {
    process.stderr.write(`  ${connections} connection(s), ${load}, round ${round} of ${plan.rounds}\n`)
    for (const [way, sockets] of clients) {
      const measured = await burst(requestsOf(load, way, sockets), plan.milliseconds)
      rounds.push({ way: way.name, load, connections, ...measured })
      await delay(SETTLE_MS)
    }
  }
  for (const socket of [...clients.values()].flat()) socket.destroy()
  return rounds
}

type Requests = ReadonlyMap<TLSSocket, Buffer>

function requestsOf(load: Load, way: Way, sockets: readonly TLSSocket[]): Requests {
  return new Map(sockets.map((socket, at) => [socket, Buffer.from(requestOf(load, way, at))]))
}

function requestOf(load: Load, way: Way, at: number): string {
  if (load === 'uploads') return requestHead(way, 'POST', '/up', `Content-Length: ${UPLOAD.length}\r\n`) + UPLOAD
  return requestHead(way, 'GET', load === 'paths' ? `/small/${at}` : '/small')
}

async function burst(requests: Requests, milliseconds: number) {
  const latencies: number[] = []
  const started = performance.now()
  const deadline = started + milliseconds
  await Promise.all([...requests].map(([socket, request]) => exchange(socket, request, deadline, latencies)))
  const seconds = (performance.now() - started) / 1000
  return { rate: latencies.length / seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}

/**
 * One request after the other until the deadline. The answers are all of one length, so that nothing needs to be parsed:
 * the generator must not be what limits the rate.
 */
function exchange(socket: TLSSocket, request: Buffer, deadline: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let length = 0
    let received = 0
    let sent = performance.now()
    const onData = (chunk: Buffer) => {
      if (received === 0 && chunk.toString('latin1', 9, 12) !== '200') {
        reject(new Error(`The answer was ${chunk.toString('latin1', 0, 500)}`))
        return
      }
      if (length === 0) length = lengthOfAnswer(chunk)
      received += chunk.length
      if (received < length) return
      const now = performance.now()
      latencies.push(now - sent)
      received = 0
      if (now >= deadline) {
        socket.off('data', onData).off('close', onClose)
        resolve()
        return
      }
      sent = now
      socket.write(request)
    }
    const onClose = () => reject(new Error('The connection was closed'))
    socket.on('data', onData).once('close', onClose)
    socket.write(request)
  })
}

function lengthOfAnswer(chunk: Buffer): number {
  const text = chunk.toString('latin1')
  const head = text.indexOf('\r\n\r\n') + 4
  const body = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1])
  if (head === 3 || Number.isNaN(body)) throw new Error('The answer has no length')
  return head + body
}
