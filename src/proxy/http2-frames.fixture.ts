import type { Socket } from 'node:net'

/** Frames of HTTP/2 by hand (RFC 9113 section 4.1), right ones and wrong ones, for who has to hold against them. */

export const TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const [END_STREAM, ACK, END_HEADERS, PADDED, PRIORITY] = [0x1, 0x1, 0x4, 0x8, 0x20]
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export function frame(
  type: keyof typeof TYPES | number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = typeof type === 'number' ? type : TYPES[type]
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

export function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([id >> 8, id & 0xff]), uint32(value)])
}

/** A field block of literals that are never indexed, and not coded (RFC 7541 section 6.2.3). */
export function block(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0x10]), text(name), text(value)]))
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const length: number[] = bytes.length < 127 ? [bytes.length] : [127]
  for (let left = bytes.length - 127; left >= 0; left = left < 128 ? -1 : left >> 7) {
    length.push(left < 128 ? left : (left & 0x7f) | 0x80)
  }
  return Buffer.concat([Buffer.from(length), bytes])
}

interface Received {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** A child of raw frames: what came back, and a wait until that holds something. */
export class FrameClient {
  readonly frames: Received[] = []
  closed = false
  readonly socket: Socket
  #bytes: Buffer = Buffer.alloc(0)
  readonly #waiting = new Set<() => void>()

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      this.#read()
      this.#wake()
    })
    socket.on('error', () => {})
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.closed = true
        this.#wake()
      })
    }
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames))
  }

  /** Resolves once `done` holds, or the connection is over. */
  async until(done: (frames: readonly Received[]) => boolean): Promise<readonly Received[]> {
    while (!this.closed && !done(this.frames)) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
    return this.frames
  }

  /** What became of a stream or the connection: `goaway 1`, `reset 5`, `answer`, or `closed` without a word. */
  async outcome(stream: number): Promise<string> {
    await this.until(() => this.#endOf(stream) !== undefined)
    return this.#endOf(stream) ?? 'closed'
  }

  /** The same of what is told at once, if anything is: `passed over` where two pings were answered meanwhile. */
  async outcomeAtOnce(stream: number): Promise<string> {
    for (const count of [1, 2]) {
      this.send(frame('ping', 0, 0, Buffer.alloc(8)))
      const pongs = () => this.frames.filter(({ type, flags }) => type === TYPES.ping && (flags & ACK) !== 0)
      await this.until(() => this.#endOf(stream) !== undefined || pongs().length >= count)
    }
    return this.#endOf(stream) ?? (this.closed ? 'closed' : 'passed over')
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #endOf(stream: number): string | undefined {
    const isOf = ({ stream: of }: Received) => of === stream
    for (const { type, payload } of this.frames) if (type === TYPES.goaway) return `goaway ${payload.readUInt32BE(4)}`
    for (const { type, flags, payload } of this.frames.filter(isOf)) {
      if (type === TYPES.rstStream) return `reset ${payload.readUInt32BE(0)}`
      if ((type === TYPES.headers || type === TYPES.data) && (flags & END_STREAM) !== 0) return 'answer'
    }
    return undefined
  }

  #read(): void {
    while (this.#bytes.length >= 9) {
      const length = this.#bytes.readUIntBE(0, 3)
      if (this.#bytes.length < 9 + length) return
      const [, , , type = 0, flags = 0] = this.#bytes
      const stream = this.#bytes.readUInt32BE(5)
      this.frames.push({ type, flags, stream, payload: this.#bytes.subarray(9, 9 + length) })
      this.#bytes = this.#bytes.subarray(9 + length)
    }
  }
}
