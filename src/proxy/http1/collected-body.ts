import { createHash } from 'node:crypto'
import type { Body, BodyFraming, BodySink, Passage } from '../messages/index.ts'
import { BodyFramer } from './body-framing.ts'
import { ChunkDecoder } from './chunk-decoder.ts'
import { Unchunked } from './unchunked.ts'

/** Holds a body until all of it is there, for a service that wants its hash before its first byte. */
export class CollectedBody {
  done = false
  malformed = false
  /** There is more of it than can be held. */
  tooLong = false

  readonly #limit: number
  readonly #framer: BodyFramer
  readonly #chunks: ChunkDecoder | undefined
  readonly #hash = createHash('sha256')
  #parts: Buffer[] = []
  #length = 0

  /** @param limit in bytes; of more nothing is held */
  constructor(framing: BodyFraming, limit: number) {
    this.#limit = limit
    this.#framer = new BodyFramer(framing, new Set())
    this.#chunks = framing.kind === 'chunked' ? new ChunkDecoder() : undefined
    this.tooLong = framing.kind === 'length' && framing.length > limit
  }

  /** Takes what there is of it; returns how much that was. */
  take(bytes: Buffer): number {
    const taken = this.#framer.read(bytes, 0)
    this.malformed = this.#framer.malformed
    this.done = this.#framer.done
    this.#length += taken
    this.tooLong ||= this.#length > this.#limit
    if (this.malformed || this.tooLong) return taken
    this.#hold(bytes.subarray(0, this.#framer.passEnd))
    if (this.#framer.replacement !== undefined) this.#hold(this.#framer.replacement)
    return taken
  }

  #hold(part: Buffer): void {
    if (part.length === 0) return
    this.#parts.push(part)
    // What is signed is the body itself, however it is framed.
    if (this.#chunks === undefined) this.#hash.update(part)
    else this.#chunks.read(part, 0, (data) => this.#hash.update(data))
  }

  /** SHA-256 in hex. Can be asked once, when it is done. */
  digest(): string {
    return this.#hash.digest('hex')
  }

  /** What sends it on. Can be asked once. */
  body(): Body {
    const held = Buffer.concat(this.#parts)
    this.#parts = []
    return new HeldBody(held, this.#length, this.#chunks !== undefined)
  }
}

class HeldBody implements Body {
  readonly bytes: number
  readonly done = true
  readonly #held: Buffer
  readonly #isChunked: boolean

  constructor(held: Buffer, bytes: number, isChunked: boolean) {
    this.bytes = bytes
    this.#held = held
    this.#isChunked = isChunked
  }

  flowTo(sink: BodySink, { dataAlone }: Passage): void {
    const taker = dataAlone && this.#isChunked ? new Unchunked(sink) : sink
    taker.write(this.#held)
    taker.end()
  }

  resume(): void {}
}
