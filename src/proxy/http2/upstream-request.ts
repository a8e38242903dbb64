import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import {
  type AnswerEvents,
  type Body,
  type BodyFraming,
  type BodySink,
  type Field,
  type Loss,
  type OutgoingRequest,
  type RequestHead,
  type ResponseHead,
  resized,
  type UpstreamStream,
} from '../messages/index.ts'
import { isConnectionSpecific, listOf, sectionOf } from './fields.ts'
import { CANCEL, INTERNAL_ERROR, NO_ERROR, PROTOCOL_ERROR, REFUSED_STREAM } from './node-http2.ts'
import { declaredFraming } from './request-head.ts'
import { StreamBody } from './stream-body.ts'
import { StreamWriter } from './stream-writer.ts'
import { fieldValue, withoutUpgrade, withUpgrade } from './websocket.ts'

interface UpstreamRequestOptions {
  readonly session: ClientHttp2Session
  readonly scheme: 'http' | 'https'
  /** Whether the session carried a request before. */
  readonly reused: boolean
  readonly onReturned: () => void
}

const END_STREAM = 1

/** One request on a stream to a service, and its answer. */
export class UpstreamRequest implements UpstreamStream {
  readonly #options: UpstreamRequestOptions
  #stream: ClientHttp2Stream | undefined
  #writer: StreamWriter | undefined
  #head: RequestHead | undefined
  /** Undefined before it was sent, and after it was given back. */
  #events: AnswerEvents | undefined
  #body: StreamBody | undefined
  #isReturned = false
  #loss: Loss | undefined

  constructor(options: UpstreamRequestOptions) {
    this.#options = options
  }

  send(request: OutgoingRequest, body: Body, events: AnswerEvents): void {
    this.#events = events
    this.#head = request.head
    const { injected, decoder, switched, waitsForBody } = request
    if (!waitsForBody && !this.#begin(request, body)) return
    const sink: BodySink = {
      write: (piece) => {
        if (this.#writer === undefined) {
          const known = resized(request)
          if (known === undefined || !this.#begin(known, body)) return true
        }
        return this.#writer?.write(piece) ?? true
      },
      end: (trailers) => this.#writer?.end(trailers),
    }
    body.flowTo(sink, { injected, decoder, switched, dataAlone: true })
  }

  release(): void {
    this.#giveBack(this.#body?.done === true ? NO_ERROR : CANCEL)
  }

  discard(code = CANCEL): void {
    this.#giveBack(code)
  }

  onBodyEnd(): void {
    this.#events?.onAnswerEnd()
  }

  onBodyMalformed(): void {}

  /** The answer that was held goes on. */
  onTaken(): void {
    if (this.#loss !== undefined) this.#events?.onLost(this.#loss)
  }

  /** Opens the stream; false where that is lost. */
  #begin(request: OutgoingRequest, body: Body): boolean {
    if (this.#events === undefined) return false
    const stream = this.#open(request)
    if (stream === undefined) {
      this.#events.onLost({ reason: 'upstream_abort', unread: this.#options.reused })
      return false
    }
    this.#stream = stream
    stream.on('headers', (headers, _flags, raw) => this.#onInterim(headers, rawOf(raw)))
    stream.on('response', (headers, flags, raw) => this.#onAnswer(headers, flags, rawOf(raw)))
    stream.on('error', () => {})
    stream.on('close', () => this.#onClose(stream))
    this.#writer = new StreamWriter(stream, body)
    this.#writer.keepOpen(request.head.upgrade)
    return true
  }

  #giveBack(code: number): void {
    this.#events = undefined
    const stream = this.#stream
    if (stream === undefined) this.#returned()
    else if (!stream.closed && !stream.destroyed) stream.close(code)
  }

  #returned(): void {
    if (this.#isReturned) return
    this.#isReturned = true
    this.#options.onReturned()
  }

  #open({ head, target, fields, injected }: OutgoingRequest): ClientHttp2Stream | undefined {
    const { session, scheme } = this.#options
    if (session.closed || session.destroyed) return undefined
    const secret = new Set(injected)
    if (target !== head.target) secret.add(':path')
    const protocol = head.upgrade ? (fieldValue(head.fields, 'upgrade') ?? '') : undefined
    const method = protocol === undefined ? head.method : 'CONNECT'
    const pseudo: (readonly [string, string])[] = [
      [':method', method],
      ...(protocol === undefined ? [] : [[':protocol', protocol.toLowerCase()] as const]),
      [':scheme', scheme],
      [':authority', head.host],
      [':path', target],
    ]
    const list = listOf(pseudo, passing(fields, head, injected), secret)
    const endStream = head.framing.kind === 'none' && !head.upgrade
    try {
      return session.request(list as never, { endStream, waitForTrailers: !endStream })
    } catch {
      return undefined
    }
  }

  #onInterim(headers: IncomingHttpHeaders, raw: readonly string[]): void {
    const head = this.#read(headers, raw, false)
    if (head === undefined || head.status === 101) this.#break()
    else this.#events?.onInterim(head)
  }

  #onAnswer(headers: IncomingHttpHeaders, flags: number, raw: readonly string[]): void {
    const hasEnded = (flags & END_STREAM) !== 0
    const head = this.#read(headers, raw, hasEnded)
    const stream = this.#stream
    if (head === undefined || stream === undefined) {
      this.#break()
      return
    }
    this.#body = new StreamBody(stream, { hasEnded }, this)
    if (this.#head?.upgrade && head.status >= 200 && head.status < 300) {
      this.#writer?.keepOpen(false)
      const fields = withUpgrade(head.fields, this.#head.fields)
      this.#events?.onSwitched({ ...head, status: 101, fields }, this.#body)
    } else this.#events?.onAnswer(head, this.#body)
  }

  #read(headers: IncomingHttpHeaders, raw: readonly string[], hasEnded: boolean): ResponseHead | undefined {
    const section = sectionOf(raw, headers)
    const status = Number(section?.pseudo.get(':status'))
    if (section === undefined || !(status >= 100 && status <= 999)) return undefined
    const framing = this.#framingOf(section.fields, status, hasEnded)
    if (framing === undefined) return undefined
    return { version: '1.1', status, fields: section.fields, framing, connection: [] }
  }

  #framingOf(fields: readonly Field[], status: number, hasEnded: boolean): BodyFraming | undefined {
    const isWithout = this.#head?.method === 'HEAD' || status < 200 || status === 204 || status === 304
    if (hasEnded || isWithout) return { kind: 'none' }
    const framing = declaredFraming(fields)
    return typeof framing === 'string' ? undefined : framing
  }

  #break(): void {
    const events = this.#events
    this.#giveBack(PROTOCOL_ERROR)
    events?.onLost({ reason: 'protocol', unread: false })
  }

  #onClose(stream: ClientHttp2Stream): void {
    this.#returned()
    const hasEndedBothWays = this.#body?.done && this.#writer?.isDone
    if (this.#head?.upgrade && hasEndedBothWays && stream.rstCode === NO_ERROR) return
    const { session, reused } = this.#options
    const isLostWithSession = session.destroyed
    const code = stream.rstCode === NO_ERROR ? INTERNAL_ERROR : stream.rstCode
    const isUnread = this.#body === undefined && (isLostWithSession || stream.rstCode === REFUSED_STREAM)
    const loss: Loss = {
      reason: 'upstream_abort',
      unread: reused && isUnread,
      ...(!isLostWithSession && { code }),
    }
    if (this.#body !== undefined && !this.#body.isTaken) this.#loss = loss
    else this.#events?.onLost(loss)
  }
}

/** The child's fields, less those of its own leg; `te: trailers` is what gRPC asks a service by. */
function passing(
  fields: readonly Field[],
  { connection, upgrade }: RequestHead,
  injected: ReadonlySet<string>,
): readonly Field[] {
  const kept = fields.filter(
    ({ name, value }) =>
      (name === 'te' && /(?:^|,)\s*trailers\s*(?:$|,)/i.test(value)) ||
      injected.has(name.replaceAll('_', '-')) ||
      !(
        name === 'host' ||
        isConnectionSpecific(name) ||
        name.startsWith('x-broker-') ||
        (connection.includes(name) && name !== 'content-length' && name !== 'expect')
      ),
  )
  const own = kept.map((field) => (field.name === 'te' ? { name: 'te', value: 'trailers' } : field))
  return upgrade ? withoutUpgrade(own) : own
}

function rawOf(raw: unknown): readonly string[] {
  return Array.isArray(raw) ? raw : []
}
