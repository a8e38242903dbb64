import type { BodyDecoder, BodyFraming } from '../messages/index.ts'
import type { BodyReader } from './body-framing.ts'
import { ChunkDecoder } from './chunk-decoder.ts'

const NOTHING = Buffer.alloc(0)

/** Takes a body out of its framing and through a decoder, as it arrives: none of its bytes pass as they are, what the decoder gives goes in their place. */
export class DecodedBody implements BodyReader {
  passEnd = 0
  /** After a read: what the decoder gave. */
  replacement: Buffer | undefined
  done = false
  malformed = false

  readonly #outer: ChunkDecoder | undefined
  readonly #decoder: BodyDecoder
  #wireLeft: number
  #data: Buffer[] = []

  constructor(framing: BodyFraming, decoder: BodyDecoder) {
    this.#outer = framing.kind === 'chunked' ? new ChunkDecoder() : undefined
    this.#wireLeft = framing.kind === 'length' ? framing.length : 0
    this.#decoder = decoder
  }

  read(bytes: Buffer, from: number): number {
    this.passEnd = from
    this.replacement = undefined
    if (this.done || this.malformed) return from
    const end = this.#outer === undefined ? this.#readLength(bytes, from) : this.#readChunks(this.#outer, bytes, from)
    if (this.#decoder.malformed) this.malformed = true
    if (this.#wireDone) this.#end()
    this.replacement = this.#data.length === 1 ? this.#data[0] : Buffer.concat(this.#data)
    this.#data = []
    if (this.malformed) this.replacement = NOTHING
    return end
  }

  get #wireDone(): boolean {
    return this.#outer === undefined ? this.#wireLeft === 0 : this.#outer.done
  }

  #end(): void {
    this.done = this.#decoder.complete
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
    this.#decoder.read(part, (data) => this.#data.push(data))
  }
}

/** Takes what comes once a connection left HTTP through a decoder, up to its end. */
export class SwitchedBody implements BodyReader {
  readonly passEnd = 0
  replacement: Buffer | undefined
  readonly done = false
  readonly #decoder: BodyDecoder

  constructor(decoder: BodyDecoder) {
    this.#decoder = decoder
  }

  get malformed(): boolean {
    return this.#decoder.malformed
  }

  read(bytes: Buffer, from: number): number {
    const data: Buffer[] = []
    this.#decoder.read(bytes.subarray(from), (part) => data.push(part))
    this.replacement = Buffer.concat(data)
    return bytes.length
  }
}
