import type { BodySink } from '../messages/index.ts'
import { ChunkDecoder } from './chunk-decoder.ts'

/** Takes what the strict framer has passed out of its chunks, for a writer that speaks none. */
export class Unchunked implements BodySink {
  readonly #sink: BodySink
  readonly #chunks = new ChunkDecoder()

  constructor(sink: BodySink) {
    this.#sink = sink
  }

  write(piece: Buffer): boolean {
    const data: Buffer[] = []
    this.#chunks.read(piece, 0, (part) => data.push(part))
    const [first] = data
    return this.#sink.write(first !== undefined && data.length === 1 ? first : Buffer.concat(data))
  }

  end(): void {
    this.#sink.end(this.#chunks.trailers)
  }
}
