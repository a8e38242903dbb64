import type { ServerHttp2Stream } from 'node:http2'
import {
  answerOf,
  answerWith,
  type Body,
  type ChildStream,
  type Field,
  isBodiless,
  type OwnAnswer,
  type Passage,
  type Refusal,
  type RequestEvents,
  type RequestHead,
  type Reset,
  type ResponseHead,
} from '../messages/index.ts'
import { byName, isConnectionSpecific, listOf } from './fields.ts'
import { CANCEL, CONNECT_ERROR, INTERNAL_ERROR, NO_ERROR, PROTOCOL_ERROR } from './node-http2.ts'
import { StreamBody } from './stream-body.ts'
import { StreamWriter } from './stream-writer.ts'
import { isAccepted, withoutUpgrade } from './websocket.ts'

const AS_DATA: Passage = { injected: new Set(), dataAlone: true }
const NO_SECRETS: ReadonlySet<string> = new Set()

/** One stream of the child's session: a request, and the writer of its answer. */
export class ChildRequest implements ChildStream {
  readonly version = 'h2'
  readonly head: RequestHead
  readonly body: StreamBody
  readonly #stream: ServerHttp2Stream
  #events: RequestEvents | undefined
  #switched = false

  constructor(stream: ServerHttp2Stream, head: RequestHead, hasEnded: boolean) {
    this.head = head
    this.#stream = stream
    this.body = new StreamBody(stream, { hasEnded, switches: head.upgrade }, this)
    stream.on('error', ignore)
    stream.on('close', () => this.#closed())
  }

  listen(events: RequestEvents): void {
    this.#events = events
  }

  invite(): void {
    this.#inform(100, [])
  }

  interim({ status, fields, connection }: ResponseHead): void {
    this.#inform(status, passing(fields, connection))
  }

  respond(head: ResponseHead, body: Body): void {
    if (!this.#isOpen) return
    const ends = isBodiless(head.framing) || this.head.method === 'HEAD'
    const fields = passing(head.fields, head.connection)
    this.#send(head.status, fields, ends ? 'is all' : 'begins')
    body.flowTo(new StreamWriter(this.#stream, body), AS_DATA)
  }

  switchTo(head: ResponseHead, body: Body): void {
    if (!this.#isOpen) return
    this.#switched = true
    if (!isAccepted(head.fields, this.head.fields)) {
      this.abort({ reason: 'protocol' })
      return
    }
    this.#send(200, passing(withoutUpgrade(head.fields), []), 'begins')
    body.flowTo(new StreamWriter(this.#stream, body), AS_DATA)
    this.body.passAll()
  }

  refuse(refusal: Refusal): void {
    if (this.#stream.headersSent) this.abort({ reason: 'protocol', code: PROTOCOL_ERROR })
    else this.#answer(answerOf(refusal))
  }

  tell(json: string): void {
    this.#answer(answerWith(json))
  }

  finish(): void {
    this.#events = undefined
    // The answer says all without the rest of the request (RFC 9113 section 8.1).
    if (!this.body.done && this.#isOpen) this.#stream.close(NO_ERROR)
  }

  abort({ code }: Reset): void {
    this.#events = undefined
    if (this.#isOpen) this.#stream.close(code ?? (this.#switched ? CONNECT_ERROR : INTERNAL_ERROR))
  }

  onBodyEnd(): void {
    this.#events?.onRequestEnd()
  }

  onBodyMalformed(): void {
    this.#events?.onRequestMalformed()
  }

  get #isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed
  }

  #inform(status: number, fields: readonly Field[]): void {
    if (!this.#isOpen || this.#stream.headersSent) return
    try {
      this.#stream.additionalHeaders({ ...byName(fields), ':status': status })
    } catch {
      // What is only a hint is left out where HTTP/2 cannot say it.
    }
  }

  #answer({ status, fields, content }: OwnAnswer): void {
    this.#events = undefined
    if (!this.#isOpen) return
    const length = { name: 'content-length', value: String(Buffer.byteLength(content)) }
    const isHead = this.head.method === 'HEAD'
    this.#send(status, [...fields, length], isHead ? 'is all' : 'begins')
    if (!isHead) {
      const writer = new StreamWriter(this.#stream)
      writer.write(Buffer.from(content))
      writer.end()
    }
    if (!this.body.done) this.#stream.close(NO_ERROR)
  }

  /** Resets the stream where the head is none that HTTP/2 can say, as a status above 599. */
  #send(status: number, fields: readonly Field[], head: 'is all' | 'begins'): void {
    const list = listOf([[':status', String(status)]], fields, NO_SECRETS)
    const endStream = head === 'is all'
    try {
      this.#stream.respond(list as never, { endStream, waitForTrailers: !endStream, sendDate: false } as never)
    } catch {
      this.#stream.close(INTERNAL_ERROR)
    }
  }

  #closed(): void {
    const events = this.#events
    this.#events = undefined
    events?.onGone(this.#stream.rstCode || CANCEL)
  }
}

/** What of an answer is for the child: not what concerns the upstream leg, nor what would lead around the proxy or pass for its own. */
function passing(fields: readonly Field[], connection: readonly string[]): readonly Field[] {
  return fields.filter(
    ({ name }) =>
      name !== 'alt-svc' &&
      !isConnectionSpecific(name) &&
      !name.startsWith('x-broker-') &&
      (!connection.includes(name) || name === 'content-length'),
  )
}

function ignore(): void {}
