import { JsonEdit } from './json-edit.ts'

/** Bytes of one message that is opened. */
const MAX_MESSAGE = 1024 * 1024
const [CONTINUATION, TEXT] = [0, 1]
const IS_CONTROL = 0x08
const NOTHING = Buffer.alloc(0)

interface Frame {
  readonly fin: boolean
  readonly opcode: number
  /** Where the payload begins, and where the frame ends. */
  readonly from: number
  readonly end: number
  /** Every frame of a client has one. */
  readonly mask: Buffer
}

/**
 * Puts values in place of strings in the first text messages of a WebSocket's client (RFC 6455), put together from their
 * fragments; every other frame passes as it came, and after those messages every byte.
 */
export class FrameEdit {
  readonly complete = true
  malformed = false
  readonly #values: ReadonlyMap<string, string>
  #left: number
  #waiting: Buffer = NOTHING
  /** The payload of a text message whose last fragment did not come yet. */
  #message: Buffer[] | undefined
  #length = 0

  /** @param values by JSON pointer. @param messages how many are opened */
  constructor(values: ReadonlyMap<string, string>, messages: number) {
    this.#values = values
    this.#left = messages
  }

  read(data: Buffer, onData: (edited: Buffer) => void): void {
    if (this.#left === 0) {
      onData(data)
      return
    }
    this.#waiting = this.#waiting.length === 0 ? data : Buffer.concat([this.#waiting, data])
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) this.#pass(frame, onData)
    if (this.#left > 0 || this.malformed) return
    onData(this.#waiting)
    this.#waiting = NOTHING
  }

  #next(): Frame | undefined {
    if (this.malformed || this.#left === 0) return undefined
    const frame = frameIn(this.#waiting)
    if (frame === 'malformed' || (frame !== undefined && this.#length + frame.end - frame.from > MAX_MESSAGE)) {
      this.malformed = true
      return undefined
    }
    return frame !== undefined && frame.end <= this.#waiting.length ? frame : undefined
  }

  #pass(frame: Frame, onData: (edited: Buffer) => void): void {
    const { fin, opcode, from, end, mask } = frame
    const bytes = this.#waiting.subarray(0, end)
    this.#waiting = this.#waiting.subarray(end)
    const isOfText = opcode === TEXT || (opcode === CONTINUATION && this.#message !== undefined)
    if ((opcode & IS_CONTROL) !== 0 || !isOfText) {
      onData(bytes)
      return
    }
    this.#message = [...(this.#message ?? []), masked(bytes.subarray(from), mask)]
    this.#length += end - from
    if (!fin) return
    const whole = Buffer.concat(this.#message)
    this.#message = undefined
    this.#length = 0
    this.#left -= 1
    onData(textFrame(this.#edited(whole), mask))
  }

  #edited(message: Buffer): Buffer {
    const edit = new JsonEdit(this.#values)
    const parts: Buffer[] = []
    edit.read(message, (part) => parts.push(part))
    this.malformed = edit.malformed
    return this.malformed ? NOTHING : Buffer.concat(parts)
  }
}

/** Reads the head of the frame that `bytes` begin with; undefined while it is not all there. */
function frameIn(bytes: Buffer): Frame | 'malformed' | undefined {
  const [first, second] = bytes
  if (first === undefined || second === undefined) return undefined
  // A reserved bit says that an extension changed the frame, and none was asked for.
  if ((first & 0x70) !== 0) return 'malformed'
  const short = second & 0x7f
  const lengthAt = short === 126 ? 4 : short === 127 ? 10 : 2
  if ((second & 0x80) === 0) return 'malformed'
  const from = lengthAt + 4
  if (bytes.length < from) return undefined
  const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short
  const mask = bytes.subarray(lengthAt, from)
  return { fin: (first & 0x80) !== 0, opcode: first & 0x0f, from, end: from + length, mask }
}

function masked(payload: Buffer, mask: Buffer): Buffer {
  return Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)))
}

function textFrame(payload: Buffer, mask: Buffer): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = 0x80 | TEXT
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, mask, masked(payload, mask)])
}
