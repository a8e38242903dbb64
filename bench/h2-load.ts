/** Requests by HTTP/2, straight and behind `broker run`, whose child this is; prints what it found as JSON. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { withInherited } from './inherited-way.ts'
import { percentile } from './statistics.ts'
import { open, type Way } from './way.ts'

export interface Http2Plan {
  readonly ways: readonly Way[]
  readonly rounds: number
  /** Of each round by each way. */
  readonly milliseconds: number
  /** Of each transfer. */
  readonly bytes: number
  readonly transfers: number
}

export interface Http2Found {
  readonly rounds: readonly Http2Round[]
  readonly transfers: readonly { readonly way: string; readonly rate: number }[]
  /** What the processes of the run grew by, in MB; absent where the system does not tell. */
  readonly idleMemory?: number
}

export interface Http2Round {
  readonly way: string
  /** Requests a second with 100 streams on one connection. */
  readonly rate: number
  /** Milliseconds of one stream after the other. */
  readonly p50: number
  /** Milliseconds to the first message of a stream that stays open. */
  readonly first: number
}

const STREAMS = 100
const IDLE = 1_000
const OF_A_SESSION = 250

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Http2Plan
const ways = plan.ways.map(withInherited)
const sessions = new Map<Way, ClientHttp2Session>()
for (const way of ways) sessions.set(way, await begin(way))
const rounds: Http2Round[] = []
for (let round = 0; round <= plan.rounds; round++) {
  process.stderr.write(`  round ${round} of ${plan.rounds}\n`)
  for (const [way, session] of sessions) {
    const taken = await measure(way, session)
    // The first one warms up.
    if (round > 0) rounds.push(taken)
  }
}
const transfers: Http2Found['transfers'][number][] = []
for (let round = 0; round < plan.transfers; round++) {
  for (const [way, session] of sessions) transfers.push({ way: way.name, rate: await transfer(way, session) })
}
const idleMemory = await memoryOfIdle(ways.at(-1))
const found: Http2Found = { rounds, transfers, ...(idleMemory !== undefined && { idleMemory }) }
process.stdout.write(JSON.stringify(found))
process.exit()

async function begin(way: Way): Promise<ClientHttp2Session> {
  const socket = await open(way, 'h2')
  const settings = { initialWindowSize: 1_048_576 }
  const session = connect(`https://${way.host}`, { createConnection: () => socket, settings })
  await once(session, 'remoteSettings')
  session.setLocalWindowSize(16 * 1_048_576)
  return session
}

function request({ host, authorization }: Way, session: ClientHttp2Session, path: string): ClientHttp2Stream {
  return session.request({ ':path': path, ':authority': host, authorization })
}

async function measure(way: Way, session: ClientHttp2Session): Promise<Http2Round> {
  const started = performance.now()
  const times: number[] = []
  const one = async (latencies: number[]) => {
    while (performance.now() < started + plan.milliseconds) await ask(way, session, latencies)
  }
  await Promise.all(Array.from({ length: STREAMS }, () => one(times)))
  const rate = times.length / ((performance.now() - started) / 1000)
  const single: number[] = []
  const firsts: number[] = []
  for (let at = 0; at < 100; at++) {
    await ask(way, session, single)
    firsts.push(await firstMessage(way, session))
  }
  return { way: way.name, rate, p50: percentile(single, 0.5), first: percentile(firsts, 0.5) }
}

async function ask(way: Way, session: ClientHttp2Session, latencies: number[]): Promise<void> {
  const sent = performance.now()
  const stream = request(way, session, '/small')
  stream.on('response', (headers) => {
    if (headers[':status'] !== 200) throw new Error(`The answer was ${headers[':status']}`)
  })
  stream.resume()
  await once(stream, 'end')
  latencies.push(performance.now() - sent)
}

async function firstMessage(way: Way, session: ClientHttp2Session): Promise<number> {
  const sent = performance.now()
  const stream = request(way, session, '/open')
  await once(stream, 'data')
  const late = performance.now() - sent
  stream.on('error', () => {})
  stream.close(8)
  return late
}

/** In MB a second. */
async function transfer(way: Way, session: ClientHttp2Session): Promise<number> {
  const started = performance.now()
  let read = 0
  const stream = request(way, session, `/down?${plan.bytes}`)
  stream.on('data', (chunk: Buffer) => {
    read += chunk.length
  })
  await once(stream, 'end')
  if (read !== plan.bytes) throw new Error(`${read} bytes came of ${plan.bytes}`)
  return read / 1e6 / ((performance.now() - started) / 1000)
}

async function memoryOfIdle(way: Way | undefined): Promise<number | undefined> {
  const before = residentMemory()
  if (way === undefined || before === undefined) return undefined
  for (let opened = 0; opened < IDLE; opened += OF_A_SESSION) {
    const session = await begin(way)
    const streams = Array.from({ length: OF_A_SESSION }, () => request(way, session, '/open'))
    await Promise.all(streams.map((stream) => once(stream, 'data')))
  }
  return (residentMemory() ?? Number.NaN) - before
}

/** Of the process that ran this one, and its other children, in MB. */
function residentMemory(): number | undefined {
  try {
    const children = readFileSync(`/proc/${process.ppid}/task/${process.ppid}/children`, 'utf8').trim().split(' ')
    const all = [String(process.ppid), ...children].filter((pid) => pid !== String(process.pid))
    const sizes = all.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0))
    return sizes.reduce((sum, size) => sum + size, 0) / 1024
  } catch {
    return undefined
  }
}
