import type { ErrorBody } from './errors.ts'

/**
 * The frames of a run's channel: what its proxy and the daemon say to each other on one connection once it was switched.
 * A frame is the length of its body (32 bits), its kind (8 bits), a number that pairs an answer with its question (32
 * bits), all in network byte order, and the body: JSON in UTF-8, or nothing.
 */

/** The protocol that a connection is switched to: RFC 9110 section 7.8. */
export const CHANNEL_PROTOCOL = 'broker-channel/1'

const FRAME_KINDS = {
  /** From the proxy: a request needs a credential. */
  question: 1,
  /** From the daemon: the credential, with the number of its release. */
  answer: 2,
  /** From the daemon: an error of the table, to a question or to events. */
  refusal: 3,
  /** From the proxy: what became of requests. */
  events: 4,
  /** From the daemon: those events are stored. */
  stored: 5,
  /** From the daemon: what may be routed, or who may have it, is not what it was. */
  changed: 6,
  /** From the daemon, and back from the proxy: both are there. */
  beat: 7,
} as const

export type FrameKind = keyof typeof FRAME_KINDS

/** The body of a refusal: what an HTTP answer would be. */
export interface Refused {
  readonly status: number
  readonly body: ErrorBody
  readonly headers: Readonly<Record<string, string>>
}

export interface Frame {
  readonly kind: FrameKind
  readonly number: number
  /** Good until the next bytes are read. */
  readonly body: Buffer
}

/** More than a batch of a thousand events, and than a request that is signed with all its headers. */
const LONGEST_BODY = 8 * 1024 * 1024
const HEAD = 9
const NAMES = new Map<number, FrameKind>(Object.entries(FRAME_KINDS).map(([name, code]) => [code, name as FrameKind]))

/** What frames are written to, as a stream of Node is. */
interface Sink {
  cork(): void
  uncork(): void
  write(bytes: Buffer): unknown
}

/** Writes frames; those of one turn of the event loop leave in one packet. */
export class FrameWriter {
  readonly #sink: Sink
  #corked = false

  constructor(sink: Sink) {
    this.#sink = sink
  }

  write(kind: FrameKind, number: number, body?: unknown): void {
    if (!this.#corked) {
      this.#corked = true
      this.#sink.cork()
      setImmediate(() => {
        this.#corked = false
        this.#sink.uncork()
      })
    }
    this.#sink.write(encodeFrame(kind, number, body))
  }
}

export function encodeFrame(kind: FrameKind, number: number, body: unknown = undefined): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body)
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(HEAD + length)
  bytes.writeUInt32BE(length, 0)
  bytes.writeUInt8(FRAME_KINDS[kind], 4)
  bytes.writeUInt32BE(number, 5)
  bytes.write(text, HEAD)
  return bytes
}

/** Takes frames out of bytes as they come, each byte copied at most twice. */
export class FrameReader {
  /** A frame of which not all has come. */
  #open: { readonly bytes: Buffer; filled: number } | undefined;

  /** @throws RangeError where the bytes are no frames: nothing that comes after them can be read */
  *read(chunk: Buffer): Generator<Frame> {
    for (let rest = chunk; rest.length > 0; ) {
      const size = this.#open === undefined ? sizeOf(rest) : undefined
      if (size !== undefined && size <= rest.length) {
        yield frameOf(rest.subarray(0, size))
        rest = rest.subarray(size)
        continue
      }
      rest = this.#fill(rest)
      const whole = this.#takeWhole()
      if (whole) yield frameOf(whole)
    }
  }

  #fill(chunk: Buffer): Buffer {
    this.#open ??= { bytes: Buffer.allocUnsafe(HEAD), filled: 0 }
    const copied = chunk.copy(this.#open.bytes, this.#open.filled)
    this.#open.filled += copied
    return chunk.subarray(copied)
  }

  #takeWhole(): Buffer | undefined {
    const { bytes, filled } = this.#open ?? { bytes: NOTHING, filled: 0 }
    if (filled < HEAD || filled < bytes.length) return undefined
    const size = sizeOf(bytes) ?? 0
    if (size === filled) {
      this.#open = undefined
      return bytes
    }
    const whole = Buffer.allocUnsafe(size)
    bytes.copy(whole)
    this.#open = { bytes: whole, filled }
    return undefined
  }
}

const NOTHING = Buffer.alloc(0)

/** Undefined where its head is not whole. */
function sizeOf(bytes: Buffer): number | undefined {
  if (bytes.length < HEAD) return undefined
  const length = bytes.readUInt32BE(0)
  if (length > LONGEST_BODY) throw new RangeError('a frame that is too long')
  return HEAD + length
}

function frameOf(bytes: Buffer): Frame {
  const kind = NAMES.get(bytes.readUInt8(4))
  if (kind === undefined) throw new RangeError('a frame of no known kind')
  return { kind, number: bytes.readUInt32BE(5), body: bytes.subarray(HEAD) }
}
