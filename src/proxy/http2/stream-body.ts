import { createHash } from 'node:crypto'
import type { Http2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Body, BodyDecoder, BodySink, Collector, Passage, RequestBody } from '../messages/index.ts'
import { allowedTrailers } from './fields.ts'

const NOTHING = Buffer.alloc(0)

/** Who has a stream whose body is read. */
interface Owner {
  /** All of it was handed over. */
  onBodyEnd(): void
  onBodyMalformed(): void
  /** Somebody has it. */
  onTaken?(): void
}

interface Arrival {
  /** Whether the head was the last frame. */
  readonly hasEnded: boolean
  /** Whether there is no body before the stream leaves HTTP. */
  readonly switches?: boolean
}

/** The body of a message that comes on a stream. It is not read, and its sender is slowed down by its window, before somebody takes it. */
export class StreamBody implements RequestBody {
  bytes = 0
  done: boolean
  /** Whether somebody has it. */
  isTaken = false
  readonly #stream: Http2Stream
  readonly #owner: Owner
  readonly #ending: Ending
  #trailers: readonly string[] = []
  #take: (piece: Buffer) => void = () => {}
  #finish: () => void = () => {}
  #switch: () => void = () => {}
  #isRead = false

  constructor(stream: Http2Stream, { hasEnded, switches = false }: Arrival, owner: Owner) {
    this.#stream = stream
    this.#owner = owner
    this.done = hasEnded || switches
    this.#ending = hasEnded ? HAS_ENDED : watchEnd(stream)
    stream.on('trailers', (_headers: IncomingHttpHeaders, _flags: number, raw?: readonly string[]) => {
      this.#trailers = raw ?? []
    })
  }

  flowTo(sink: BodySink, { injected, decoder, switched }: Passage): void {
    this.#pass(sink, injected, decoder)
    this.#switch = () => this.#pass(sink, injected, switched)
    this.isTaken = true
    sink.write(NOTHING)
    if (this.done) this.#finish()
    else this.#read()
    this.#owner.onTaken?.()
  }

  #pass(sink: BodySink, injected: Passage['injected'], decoder: BodyDecoder | undefined): void {
    this.#take = (piece) => {
      const data = decoder === undefined ? piece : decoded(decoder, piece)
      if (decoder?.malformed) this.#break()
      else if (!sink.write(data)) this.#stream.pause()
    }
    this.#finish = () => {
      if (decoder !== undefined && !decoder.complete) {
        this.#break()
        return
      }
      this.done = true
      sink.end(allowedTrailers(this.#trailers, injected))
      this.#owner.onBodyEnd()
    }
  }

  collect(limit: number, collector: Collector): void {
    const hash = createHash('sha256')
    const pieces: Buffer[] = []
    this.#take = (piece) => {
      if (this.bytes > limit) {
        this.#take = () => {}
        collector.onTooLong()
        return
      }
      pieces.push(piece)
      hash.update(piece)
    }
    this.#finish = () => {
      if (this.bytes > limit) return
      this.done = true
      collector.onCollected(new HeldBody(Buffer.concat(pieces)), hash.digest('hex'))
    }
    if (this.done) this.#finish()
    else this.#read()
  }

  resume(): void {
    if (this.#stream.isPaused()) this.#stream.resume()
  }

  /** Hands over all data from now on, to whoever has the body: the stream left HTTP. */
  passAll(): void {
    this.#switch()
    this.done = false
    this.#read()
  }

  #read(): void {
    if (this.#isRead) return
    this.#isRead = true
    this.#stream.on('data', (piece: Buffer) => {
      this.bytes += piece.length
      this.#take(piece)
    })
    // Of a body without data the end is told whether somebody reads it or not.
    if (this.#stream.readableEnded) this.#onEnd()
    else this.#stream.on('end', () => this.#onEnd())
  }

  #onEnd(): void {
    if (this.#ending.wasSaid) this.#finish()
  }

  #break(): void {
    this.#take = () => {}
    this.#finish = () => {}
    this.#owner.onBodyMalformed()
  }
}

function decoded(decoder: BodyDecoder, piece: Buffer): Buffer {
  const data: Buffer[] = []
  decoder.read(piece, (part) => data.push(part))
  return Buffer.concat(data)
}

interface Ending {
  /** Whether the other side said END_STREAM. */
  readonly wasSaid: boolean
}

const HAS_ENDED: Ending = { wasSaid: true }

/**
 * Tells an END_STREAM from a RST_STREAM with NO_ERROR: `node:http2` emits `end` for both, and a message that was cut off would
 * pass for a whole one. It gives the end of the data before it marks the stream as closed, and that of a reset after.
 */
function watchEnd(stream: Http2Stream): Ending {
  const ending = { wasSaid: hasBufferedEnd(stream) && !stream.closed }
  const push = stream.push.bind(stream)
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null && !stream.closed && !stream.destroyed) ending.wasSaid = true
    return push(chunk, encoding)
  }
  return ending
}

/** Of a stream whose data came together with its head. */
function hasBufferedEnd(stream: Http2Stream): boolean {
  const { _readableState: state } = stream as unknown as { readonly _readableState: { readonly ended: boolean } }
  return state.ended
}

class HeldBody implements Body {
  readonly bytes: number
  readonly done = true
  readonly #held: Buffer

  constructor(held: Buffer) {
    this.bytes = held.length
    this.#held = held
  }

  flowTo(sink: BodySink): void {
    sink.write(this.#held)
    sink.end()
  }

  resume(): void {}
}
