import { createHash } from 'node:crypto'
import { BodyFramer, type BodyReader } from './body-framing.ts'
import { ChunkDecoder } from './chunk-decoder.ts'
import type { BodyFraming } from './header-fields.ts'

/** Longer bodies are not held. */
const MAX_COLLECTED = 32 * 1024 * 1024

/** Holds a body until all of it is there, for a service that wants its hash before its first byte. */
export class CollectedBody {
  done = false
  malformed = false
  /** There is more of it than can be held. */
  tooLong = false

  readonly #framer: BodyFramer
  readonly #chunks: ChunkDecoder | undefined
  readonly #hash = createHash('sha256')
  #parts: Buffer[] = []
  #length = 0

  constructor(framing: BodyFraming) {
    this.#framer = new BodyFramer(framing, new Set())
    this.#chunks = framing.kind === 'chunked' ? new ChunkDecoder() : undefined
    this.tooLong = framing.kind === 'length' && framing.length > MAX_COLLECTED
  }

  /** Takes what there is of it; returns how much that was. */
  take(bytes: Buffer): number {
    const taken = this.#framer.read(bytes, 0)
    this.malformed = this.#framer.malformed
    this.done = this.#framer.done
    this.#length += taken
    this.tooLong ||= this.#length > MAX_COLLECTED
    if (this.malformed || this.tooLong) return taken
    this.#hold(bytes.subarray(0, this.#framer.passEnd))
    if (this.#framer.trailers !== undefined) this.#hold(this.#framer.trailers)
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

  /** What sends it on, in the place of a reader of bytes that are still to come. */
  reader(): BodyReader {
    const held = Buffer.concat(this.#parts)
    this.#parts = []
    return new HeldBody(held)
  }
}

class HeldBody implements BodyReader {
  passEnd = 0
  trailers: Buffer | undefined
  readonly done = true
  readonly malformed = false
  #held: Buffer | undefined

  constructor(held: Buffer) {
    this.#held = held
  }

  read(_bytes: Buffer, from: number): number {
    this.passEnd = from
    this.trailers = this.#held
    this.#held = undefined
    return from
  }
}
