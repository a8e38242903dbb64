import type { Socket } from 'node:net'
import type { Body, BodyFraming, BodySink, Passage } from '../messages/index.ts'
import { BodyFramer } from './body-framing.ts'
import { joined } from './joined.ts'
import { Unchunked } from './unchunked.ts'

/** Bytes that are read while nobody takes them; the rest waits with the service. */
const MAX_HELD = 65_536
const NO_NAMES: ReadonlySet<string> = new Set()
const NOTHING = Buffer.alloc(0)

interface Owner {
  /** What was held was handed over. */
  onTaken(): void
}

/** The body of an answer, as it is read: it goes to whoever has taken it, and is held as long as nobody has. */
export class AnswerBody implements Body {
  bytes = 0
  readonly #framer: BodyFramer
  readonly #isChunked: boolean
  readonly #socket: Socket
  readonly #owner: Owner
  #sink: BodySink | undefined
  #held: Buffer[] | undefined

  constructor(framing: BodyFraming, socket: Socket, owner: Owner) {
    this.#framer = new BodyFramer(framing, NO_NAMES)
    this.#isChunked = framing.kind === 'chunked'
    this.#socket = socket
    this.#owner = owner
  }

  get done(): boolean {
    return this.#framer.done
  }

  get malformed(): boolean {
    return this.#framer.malformed
  }

  /** Whether bytes were read that nobody has taken yet. */
  get isHeld(): boolean {
    return this.#held !== undefined
  }

  flowTo(sink: BodySink, { dataAlone }: Passage): void {
    this.#sink = dataAlone && this.#isChunked ? new Unchunked(sink) : sink
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    let goesOn = true
    for (const piece of held) goesOn = this.#sink.write(piece)
    this.#owner.onTaken()
    if (goesOn) this.resume()
  }

  resume(): void {
    if (this.#socket.isPaused()) this.#socket.resume()
  }

  /** Reads `bytes` from `from` on; returns where the body's part of them ends. */
  read(bytes: Buffer, from: number): number {
    const taken = this.#framer.read(bytes, from)
    this.bytes += taken - from
    this.#deliver(joined('', bytes.subarray(from, this.#framer.passEnd), this.#framer.replacement))
    return taken
  }

  /** The service closed in order: the end of a body that is delimited by it. */
  close(): void {
    this.#framer.close()
  }

  /** Tells who has it that all of it was handed over. */
  end(): void {
    this.#sink?.end()
  }

  #deliver(piece: Buffer): void {
    if (this.#sink !== undefined) {
      if (!this.#sink.write(piece)) this.#socket.pause()
      return
    }
    this.#held ??= []
    // Of an empty part the whole chunk behind it would be held.
    this.#held.push(piece.length === 0 ? NOTHING : piece)
    if (this.bytes > MAX_HELD) this.#socket.pause()
  }
}
