import { ChunkDecoder } from './http1/index.ts'
import type { BodyDecoder } from './messages/index.ts'

/**
 * Takes the object out of a body whose chunks the child has signed. It has to be as long as was announced, or the body is
 * malformed.
 */
export class AwsChunkedBody implements BodyDecoder {
  malformed = false
  readonly #chunks = new ChunkDecoder()
  #left: number

  constructor(decodedLength: number) {
    this.#left = decodedLength
  }

  get complete(): boolean {
    return this.#chunks.done && this.#left === 0
  }

  read(part: Buffer, onData: (data: Buffer) => void): void {
    const taken = this.#chunks.read(part, 0, (data) => {
      this.#left -= data.length
      onData(data)
    })
    if (taken < part.length || this.#chunks.malformed || this.#left < 0) this.malformed = true
  }
}
