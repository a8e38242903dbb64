import { type BodyFraming, type BodyReader, ChunkDecoder } from '../http1/index.ts'

const NOTHING = Buffer.alloc(0)

/**
 * Takes the object out of a body whose chunks the child has signed, as it arrives: none of its bytes pass as they are,
 * the data goes in their place. It has to be as long as was announced, or the body is malformed.
 */
export class AwsChunkedBody implements BodyReader {
  passEnd = 0
  /** After a read: the data that was in it. */
  trailers: Buffer | undefined
  done = false
  malformed = false

  readonly #outer: ChunkDecoder | undefined
  readonly #inner = new ChunkDecoder()
  #wireLeft: number
  #dataLeft: number
  #data: Buffer[] = []

  constructor(framing: BodyFraming, decodedLength: number) {
    this.#outer = framing.kind === 'chunked' ? new ChunkDecoder() : undefined
    this.#wireLeft = framing.kind === 'length' ? framing.length : 0
    this.#dataLeft = decodedLength
  }

  read(bytes: Buffer, from: number): number {
    this.passEnd = from
    this.trailers = undefined
    if (this.done || this.malformed) return from
    const end = this.#outer === undefined ? this.#readLength(bytes, from) : this.#readChunks(this.#outer, bytes, from)
    if (this.#wireDone) this.#end()
    this.trailers = this.#data.length === 1 ? this.#data[0] : Buffer.concat(this.#data)
    this.#data = []
    if (this.malformed) this.trailers = NOTHING
    return end
  }

  get #wireDone(): boolean {
    return this.#outer === undefined ? this.#wireLeft === 0 : this.#outer.done
  }

  #end(): void {
    this.done = this.#inner.done && this.#dataLeft === 0
    if (!this.done) this.malformed = true
  }

  #readLength(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + this.#wireLeft)
    this.#wireLeft -= end - from
    this.#decode(bytes.subarray(from, end))
    return end
  }

  #readChunks(outer: ChunkDecoder, bytes: Buffer, from: number): number {
    const end = outer.read(bytes, from, (part) => this.#decode(part))
    if (outer.malformed) this.malformed = true
    return end
  }

  #decode(part: Buffer): void {
    const taken = this.#inner.read(part, 0, (data) => {
      this.#dataLeft -= data.length
      this.#data.push(data)
    })
    if (taken < part.length || this.#inner.malformed || this.#dataLeft < 0) this.malformed = true
  }
}
