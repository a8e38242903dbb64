import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { malformedRequest, type Refusal, type RequestHead } from '../messages/index.ts'
import { ChildRequest } from './child-request.ts'
import { sectionOf } from './fields.ts'
import { BOUNDS, http2, SESSION } from './node-http2.ts'
import { requestHeadOf } from './request-head.ts'

interface ChildSessionOptions {
  /** What frames are read from. */
  readonly socket: Socket
  /** What every request on it has to say of itself. */
  readonly scheme: 'http' | 'https'
  /** Where it is listed for as long as requests are read from it. */
  readonly open: Set<{ abandon(): void }>
  /** Takes each request, side by side. */
  readonly onRequest: (request: ChildRequest) => void
  /** Hears of streams that were refused as no request, and answered. */
  readonly onMalformed: (refusal: Refusal) => void
}

const END_STREAM = 1
const CONNECTION_WINDOW = 1024 * 1024
const NO_REQUEST: RequestHead = {
  method: 'GET',
  target: '/',
  version: '1.1',
  host: '',
  fields: [],
  framing: { kind: 'none' },
  connection: [],
  upgrade: false,
}

/** One connection of a child that speaks HTTP/2: makes a request of each stream. */
export class ChildSession {
  readonly #options: ChildSessionOptions
  readonly #session: ServerHttp2Session

  constructor(options: ChildSessionOptions) {
    const { socket, open } = options
    this.#options = options
    const session = http2().performServerHandshake(socket, {
      ...SESSION,
      streamResetBurst: BOUNDS.streamResetBurst,
      streamResetRate: BOUNDS.streamResetRate,
      maxSessionInvalidFrames: BOUNDS.maxSessionInvalidFrames,
      settings: {
        maxConcurrentStreams: BOUNDS.maxConcurrentStreams,
        initialWindowSize: BOUNDS.initialWindowSize,
        maxHeaderListSize: BOUNDS.maxHeaderListSize,
        enableConnectProtocol: true,
      },
    })
    this.#session = session
    session.on('stream', (stream, headers, flags, raw: readonly string[] = []) => {
      this.#onStream(
        stream as ServerHttp2Stream,
        requestOf(options, { headers, raw, flags }),
        (flags & END_STREAM) !== 0,
      )
    })
    session.on('error', () => {})
    session.on('close', () => {
      open.delete(this)
      socket.destroy()
    })
    if (!session.destroyed) session.setLocalWindowSize(CONNECTION_WINDOW)
    open.add(this)
  }

  /** Gives the connection up at once, and with it what was under way. */
  abandon(): void {
    this.#options.open.delete(this)
    this.#session.destroy()
  }

  #onStream(stream: ServerHttp2Stream, head: RequestHead | string, hasEnded: boolean): void {
    if (stream.destroyed) return
    if (typeof head !== 'string') {
      this.#options.onRequest(new ChildRequest(stream, head, hasEnded))
      return
    }
    const refusal = malformedRequest({ status: 400, reason: head })
    this.#options.onMalformed(refusal)
    new ChildRequest(stream, NO_REQUEST, hasEnded).refuse(refusal)
  }
}

interface Received {
  readonly headers: Parameters<typeof sectionOf>[1]
  readonly raw: readonly string[]
  readonly flags: number
}

function requestOf({ scheme }: ChildSessionOptions, { headers, raw, flags }: Received): RequestHead | string {
  const section = sectionOf(raw, headers)
  return section === undefined
    ? 'header_field'
    : requestHeadOf(section, { scheme, hasEnded: (flags & END_STREAM) !== 0 })
}
