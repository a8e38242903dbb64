import type { Duplex } from 'node:stream'
import { toWire } from '../../injection/index.ts'
import {
  type Actor,
  BrokerError,
  type Frame,
  type FrameKind,
  FrameReader,
  FrameWriter,
  type Refused,
} from '../../protocol/index.ts'
import { channelEvents, channelQuestion } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Releases } from '../releases/index.ts'
import { findGaps } from './gaps.ts'

export interface ChannelRooms {
  readonly releases: Pick<Releases, 'release'>
  readonly audit: Pick<Audit, 'append' | 'recordAhead'>
  readonly principals: { ofRun(actor: Actor): Promise<Actor> }
  /** Turns an error into what may be said of it; tells the log of those that are nobody's fault but ours. */
  readonly refusalOf: (error: unknown) => Refused
}

/** What waits for its answer at once; the rest waits in the socket. */
const MOST_AT_ONCE = 512
/** Answers that the other end does not read. */
const MOST_UNREAD = 16 * 1024 * 1024

/** One run's connection, from the daemon's side. */
export class Channel {
  readonly #socket: Duplex
  readonly #rooms: ChannelRooms
  readonly #reader = new FrameReader()
  readonly #writer: FrameWriter
  readonly #actor: Actor
  #working = 0
  #stored: number | undefined
  /** Whether the other end has answered the last beat. */
  #isAlive = true
  #idle: PromiseWithResolvers<void> | undefined

  constructor(socket: Duplex, actor: Actor, rooms: ChannelRooms) {
    this.#socket = socket
    this.#writer = new FrameWriter(socket)
    this.#actor = actor
    this.#rooms = rooms
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('end', () => this.#end())
  }

  get principalId(): string {
    return this.#actor.principalId
  }

  get runId(): string {
    return this.#actor.run?.id ?? ''
  }

  /** Bytes that came with the request for the channel. */
  begin(head: Buffer): void {
    if (head.length > 0) this.#read(head)
  }

  changed(): void {
    this.#send('changed', 0)
  }

  /** Asks whether the other end is there; lets go of one that has not answered since the last time. */
  beat(): void {
    if (!this.#isAlive) {
      this.#socket.destroy()
      return
    }
    this.#isAlive = false
    this.#send('beat', 0)
  }

  /** Answers what was asked, and ends. */
  async close(): Promise<void> {
    this.#socket.pause()
    if (this.#working > 0) {
      this.#idle = Promise.withResolvers()
      await this.#idle.promise
    }
    this.#end()
  }

  /** Sends what is left, and lets go: whoever is at the other end may never do so. */
  #end(): void {
    this.#socket.end(() => this.#socket.destroy())
  }

  #read(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.read(chunk)) this.#take(frame)
    } catch {
      this.#socket.destroy()
    }
  }

  #take({ kind, number, body }: Frame): void {
    this.#isAlive = true
    if (kind === 'beat') return
    if (kind !== 'question' && kind !== 'events') throw new RangeError('a frame that only a daemon sends')
    this.#working += 1
    if (this.#working === MOST_AT_ONCE) this.#socket.pause()
    const answer = kind === 'question' ? this.#release(parsed(body)) : this.#store(parsed(body))
    answer.then(
      (answered) => this.#answer(kind === 'question' ? 'answer' : 'stored', number, answered),
      (error: unknown) => this.#refuse(number, error),
    )
  }

  async #release(sent: unknown): Promise<unknown> {
    const { count = 1, ...question } = valid(channelQuestion, sent)
    const actor = await this.#rooms.principals.ofRun(this.#actor)
    const { number, credential } = await this.#rooms.releases.release(actor, question, { how: 'channel', count })
    return { ...toWire(credential), release: number }
  }

  async #store(sent: unknown): Promise<unknown> {
    const { after, events } = valid(channelEvents, sent)
    const { audit } = this.#rooms
    const numbers = events.map(({ number }) => number)
    // Told by who signed: a run that has ended meanwhile may still say what became of its requests.
    await audit.append(
      this.#actor,
      events.map(({ number: _, ...event }) => event),
      this.runId,
    )
    for (const { from, to, count } of findGaps({ after, stored: this.#stored, numbers })) {
      const details = { from: String(from), to: String(to), count }
      await audit.recordAhead(this.#actor, { event: 'audit.gap', status: 'failure', reason: GAP, details })
    }
    this.#stored = Math.max(this.#stored ?? 0, ...numbers)
    return undefined
  }

  #answer(kind: FrameKind, number: number, body: unknown): void {
    this.#send(kind, number, body)
    this.#done()
  }

  #refuse(number: number, error: unknown): void {
    this.#send('refusal', number, this.#rooms.refusalOf(error))
    this.#done()
    // A run that has ended has nothing more to ask.
    if (error instanceof BrokerError && error.name === 'AuthenticationFailedError') this.#end()
  }

  #done(): void {
    if (this.#working === MOST_AT_ONCE && !this.#idle) this.#socket.resume()
    this.#working -= 1
    if (this.#working === 0) this.#idle?.resolve()
  }

  #send(kind: FrameKind, number: number, body?: unknown): void {
    const socket = this.#socket
    if (!socket.writable) return
    this.#writer.write(kind, number, body)
    if (socket.writableLength > MOST_UNREAD) socket.destroy()
  }
}

const GAP = 'Events of this run were lost before they reached the daemon'

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

interface Schema<Value> {
  safeParse(value: unknown): { readonly success: true; readonly data: Value } | { readonly success: false }
}

function valid<Value>(schema: Schema<Value>, sent: unknown): Value {
  const result = schema.safeParse(sent)
  if (result.success) return result.data
  throw new BrokerError('InvalidRequestError', 'The frame does not hold what its kind says')
}
