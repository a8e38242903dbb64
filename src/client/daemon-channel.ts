import type { Duplex } from 'node:stream'
import { fromWire, type ResolvedCredential } from '../injection/index.ts'
import { BrokerError, type Frame, type FrameKind, FrameReader, FrameWriter, type Refused } from '../protocol/index.ts'
import type { ChannelEvents, ChannelQuestion, Resolution, ResolveRequest, ShippedEvent } from '../schemas/index.ts'
import { errorOf } from './error-answer.ts'
import type { Switched } from './transport.ts'

export interface DaemonChannelOptions {
  /** @throws BrokerError where the daemon cannot be had, or refuses */
  readonly open: () => Promise<Switched>
  /** How the same is asked and told of a daemon that knows no channels. */
  readonly without: {
    resolve(question: ResolveRequest): Promise<ResolvedCredential>
    ship(events: readonly ShippedEvent[]): Promise<void>
  }
  /** Hears that what the run may use is not what it was. */
  readonly onChanged: () => void
}

type Released = Resolution & { readonly release: number }

interface Waiting {
  readonly resolve: (body: unknown) => void
  readonly reject: (error: Error) => void
}

const MIN_BACKOFF = 100
const MAX_BACKOFF = 2_000

/**
 * The channel of a run, from its proxy's side: one connection, opened anew for as long as the run lives. A question
 * whose connection is lost is asked once more, on another.
 */
export class DaemonChannel {
  readonly #options: DaemonChannelOptions
  readonly #waiting = new Map<number, Waiting>()
  #socket: Duplex | undefined
  /** Of the same connection. */
  #writer: FrameWriter | undefined
  #opening: Promise<FrameWriter> | undefined
  #number = 0
  #retry: NodeJS.Timeout | undefined
  #backoff = MIN_BACKOFF
  #isClosed = false
  /** Once it is known that there is none to be had. */
  #none: NoChannel | undefined

  constructor(options: DaemonChannelOptions) {
    this.#options = options
  }

  /** Resolves once the daemon has the channel. @throws BrokerError */
  async open(): Promise<void> {
    await this.#connected()
  }

  /** The credential for one request, or for the several that share it. It must be used and let go of. */
  async resolve(question: ChannelQuestion): Promise<ResolvedCredential> {
    try {
      return fromWire((await this.#askAgain('question', question)) as Released)
    } catch (error) {
      if (!(error instanceof NoChannel)) throw error
      const { count: _, ...alone } = question
      return this.#options.without.resolve(alone)
    }
  }

  /** Resolves once the daemon has stored the events. Those that were sent before are stored once. */
  async ship(batch: ChannelEvents): Promise<void> {
    try {
      await this.#ask('events', batch)
    } catch (error) {
      if (!(error instanceof NoChannel)) throw error
      await this.#options.without.ship(batch.events.map(({ number: _, ...event }) => event))
    }
  }

  /** The daemon may have been restarted: nothing that was lost was answered. */
  async #askAgain(kind: FrameKind, body: unknown): Promise<unknown> {
    return this.#ask(kind, body).catch((error: unknown) => {
      if (error instanceof ChannelLost) return this.#ask(kind, body)
      throw error
    })
  }

  /** Ends it; the daemon lets the run live for a while. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#socket?.end()
  }

  async #ask(kind: FrameKind, body: unknown): Promise<unknown> {
    const writer = this.#writer ?? (await this.#connected())
    this.#number = (this.#number + 1) >>> 0
    const number = this.#number
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject })
      writer.write(kind, number, body)
    })
  }

  #connected(): Promise<FrameWriter> {
    if (this.#writer) return Promise.resolve(this.#writer)
    if (this.#none) return Promise.reject(this.#none)
    this.#opening ??= this.#options
      .open()
      .then((switched) => this.#begin(switched))
      .catch((error: unknown) => {
        this.#reopenLater(error)
        throw error
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  #begin({ socket, head }: Switched): FrameWriter {
    const reader = new FrameReader()
    const writer = new FrameWriter(socket)
    const read = (chunk: Buffer) => {
      try {
        for (const frame of reader.read(chunk)) this.#take(writer, frame)
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined)
      }
    }
    this.#socket = socket
    this.#writer = writer
    this.#backoff = MIN_BACKOFF
    socket.on('data', read)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.#lost(socket))
    if (this.#isClosed) socket.end()
    if (head.length > 0) read(head)
    return writer
  }

  #take(writer: FrameWriter, { kind, number, body }: Frame): void {
    if (kind === 'beat') writer.write('beat', 0)
    else if (kind === 'changed') this.#options.onChanged()
    else {
      const waiting = this.#waiting.get(number)
      this.#waiting.delete(number)
      const value: unknown = body.length === 0 ? undefined : JSON.parse(body.toString())
      if (kind === 'refusal') waiting?.reject(refusalOf(value as Refused))
      else waiting?.resolve(value)
    }
  }

  #lost(socket: Duplex): void {
    if (this.#socket !== socket) return
    this.#socket = undefined
    this.#writer = undefined
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of all) reject(new ChannelLost())
    this.#reopenLater(undefined)
  }

  /** A run lives as long as its channel: it is opened again also where nobody asks, and where a clock that jumped had it refused. */
  #reopenLater(error: unknown): void {
    if (error instanceof NoChannel) this.#none = error
    if (this.#isClosed || this.#none) return
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#connected().catch(() => undefined), this.#backoff).unref()
    this.#backoff = Math.min(MAX_BACKOFF, this.#backoff * 2)
  }
}

/** The daemon, or what stands before it, knows no channels. */
export class NoChannel extends Error {}

function refusalOf({ status, headers, body }: Refused): Error {
  return errorOf({ status, headers, text: JSON.stringify(body) }) ?? new Error('the daemon refused without a reason')
}

class ChannelLost extends BrokerError {
  constructor() {
    super('DaemonUnavailableError', 'The connection to the broker daemon was lost', {
      hint: 'Look at `broker daemon status` and `broker daemon logs`.',
      retryAfter: 1,
    })
  }
}
