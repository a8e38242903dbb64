/** Long answers and bodies, straight and behind `broker run`, whose child this is; prints what it found as JSON. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { TLSSocket } from 'node:tls'
import { withInherited } from './inherited-way.ts'
import { open, requestHead, type Way } from './way.ts'

export interface StreamPlan {
  readonly ways: readonly Way[]
  /** Of each transfer. */
  readonly bytes: number
  readonly rounds: number
  readonly firstByteRounds: number
}

export interface Streamed {
  readonly transfers: readonly { readonly way: string; readonly direction: 'down' | 'up'; readonly rate: number }[]
  /** Milliseconds from the request to the first byte of the body, and to its end. */
  readonly firstBytes: readonly { readonly way: string; readonly first: number; readonly whole: number }[]
  /** Peak resident memory of the process that ran this one, in MB; absent where the system does not tell. */
  readonly peakMemory?: number
}

const PIECE = Buffer.alloc(256 * 1024, 'x')

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as StreamPlan
const ways = plan.ways.map(withInherited)
const firstBytes = await inRounds('first byte', plan.firstByteRounds, timeFirstByte)
const down = await inRounds('down', plan.rounds, (way) => transfer(way, 'down'))
const up = await inRounds('up', plan.rounds, (way) => transfer(way, 'up'))
const memory = peakMemoryOf(process.ppid)
const found: Streamed = { firstBytes, transfers: [...down, ...up], ...(memory !== undefined && { peakMemory: memory }) }
process.stdout.write(JSON.stringify(found))
process.exit()

async function inRounds<Found>(what: string, rounds: number, take: (way: Way) => Promise<Found>): Promise<Found[]> {
  const all: Found[] = []
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`  ${what}, round ${round} of ${rounds}\n`)
    for (const way of ways) all.push(await take(way))
  }
  return all
}

async function timeFirstByte(way: Way) {
  const socket = await open(way)
  // Once the connection is warm: what is timed is the stream, not the handshakes.
  await answerOf(socket, requestHead(way, 'GET', '/small'), (text) => text.includes('"answer"'))
  const started = performance.now()
  let first = 0
  await answerOf(socket, requestHead(way, 'GET', '/slow'), (text) => {
    if (first === 0 && text.includes('data: one')) first = performance.now() - started
    return text.endsWith('0\r\n\r\n')
  })
  socket.destroy()
  return { way: way.name, first, whole: performance.now() - started }
}

function answerOf(socket: TLSSocket, request: string, isWhole: (text: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onClose = () => reject(new Error(`The connection was closed after: ${text}`))
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (!isWhole(text)) return
      socket.off('data', onData).off('close', onClose)
      resolve()
    }
    socket.on('data', onData).once('close', onClose)
    socket.write(request)
  })
}

async function transfer(way: Way, direction: 'down' | 'up') {
  const socket = await open(way)
  const started = performance.now()
  await (direction === 'down' ? takeDown(socket, way) : sendUp(socket, way))
  const seconds = (performance.now() - started) / 1000
  socket.destroy()
  return { way: way.name, direction, rate: plan.bytes / 1e6 / seconds }
}

function takeDown(socket: TLSSocket, way: Way): Promise<void> {
  return new Promise((resolve, reject) => {
    let left: number | undefined
    socket.on('data', (chunk: Buffer) => {
      left = left === undefined ? bodyBehindHead(chunk) : left - chunk.length
      if (left === 0) resolve()
    })
    socket.once('close', () => reject(new Error(`The connection was closed with ${left} bytes to come`)))
    socket.write(requestHead(way, 'GET', `/down?${plan.bytes}`))
  })
}

/** Bytes of the body that are still to come behind the chunk with the head. */
function bodyBehindHead(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n')
  if (chunk.toString('latin1', 9, 12) !== '200' || end === -1) throw new Error(`The answer was ${chunk}`)
  return plan.bytes - (chunk.length - end - 4)
}

async function sendUp(socket: TLSSocket, way: Way): Promise<void> {
  const answer = once(socket, 'data')
  socket.write(requestHead(way, 'POST', '/up', `Content-Length: ${plan.bytes}\r\n`))
  for (let left = plan.bytes; left > 0; left -= PIECE.length) {
    if (!socket.write(left < PIECE.length ? PIECE.subarray(0, left) : PIECE)) await once(socket, 'drain')
  }
  const [chunk] = (await answer) as [Buffer]
  if (!chunk.toString('latin1').endsWith(`\r\n\r\n${plan.bytes}`)) throw new Error(`The answer was ${chunk}`)
}

function peakMemoryOf(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}
