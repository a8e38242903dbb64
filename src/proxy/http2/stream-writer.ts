import type { Http2Stream } from 'node:http2'
import type { Body, BodySink, Field } from '../messages/index.ts'
import { byName } from './fields.ts'
import { INTERNAL_ERROR } from './node-http2.ts'

/**
 * Writes the body of a message to a stream, and draws it from whoever reads it as fast as the other side takes it. The stream was
 * opened with `waitForTrailers`: without it Node says END_STREAM also where a stream is reset, and what was cut off would look whole.
 */
export class StreamWriter implements BodySink {
  readonly #stream: Http2Stream
  /** Whether all was written that ever will be. */
  isDone = false
  #trailers: readonly Field[] = []
  /** Set where the stream stays open behind the message: it leaves HTTP. */
  #isOpenEnded = false

  /** @param body absent where all of it is written at once */
  constructor(stream: Http2Stream, body?: Body) {
    this.#stream = stream
    if (body !== undefined) stream.on('drain', () => body.resume())
    stream.on('wantTrailers', () => {
      if (stream.destroyed || stream.closed) return
      try {
        stream.sendTrailers(byName(this.#trailers))
      } catch {
        stream.close(INTERNAL_ERROR)
      }
    })
  }

  /** Does not end the stream with the message. */
  keepOpen(isOpenEnded: boolean): void {
    this.#isOpenEnded = isOpenEnded
  }

  write(piece: Buffer): boolean {
    if (piece.length === 0 || !this.#stream.writable) return true
    return this.#stream.write(piece)
  }

  end(trailers: readonly Field[] = []): void {
    if (this.#isOpenEnded) return
    this.isDone = true
    this.#trailers = trailers
    if (this.#stream.writable) this.#stream.end()
  }
}
