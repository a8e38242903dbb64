import {
  type BodyDecoder,
  type BodyFraming,
  type BodySink,
  type Collector,
  isBodiless,
  type Passage,
  type RequestBody,
} from '../messages/index.ts'
import { BodyFramer, type BodyReader } from './body-framing.ts'
import { CollectedBody } from './collected-body.ts'
import { DecodedBody, SwitchedBody } from './decoded-body.ts'
import { joined } from './joined.ts'
import { Unchunked } from './unchunked.ts'

/** Who reads bytes for a body. */
interface Source {
  /** Bytes that wait can be handed over now. */
  proceed(): void
  /** Stops reading from the child, or goes on. */
  block(blocked: boolean): void
  onBodyEnd(): void
  onBodyMalformed(): void
}

interface Collecting {
  readonly body: CollectedBody
  readonly collector: Collector
}

const UNTIL_CLOSE: BodyFraming = { kind: 'until_close' }
const NO_NAMES: ReadonlySet<string> = new Set()

/** The body of a request, among the bytes that its connection reads: those stay there until somebody takes them. */
export class ChildBody implements RequestBody {
  bytes = 0
  done: boolean

  readonly #framing: BodyFraming
  readonly #source: Source
  #reader: BodyReader | undefined
  #sink: BodySink | undefined
  /** Whether the sink has had its first piece. */
  #begun = false
  #collecting: Collecting | undefined
  /** What its bytes go through once the connection left HTTP. */
  #switched: BodyDecoder | undefined

  constructor(framing: BodyFraming, source: Source) {
    this.#framing = framing
    this.#source = source
    this.done = isBodiless(framing)
  }

  /** Whether {@link read} has something to do, be it to hand over nothing for the first time. */
  get isWanted(): boolean {
    return this.#collecting !== undefined || (this.#sink !== undefined && !(this.#begun && this.done))
  }

  flowTo(sink: BodySink, { injected, decoder, dataAlone, switched }: Passage): void {
    this.#switched = switched
    this.#reader =
      decoder === undefined ? new BodyFramer(this.#framing, injected) : new DecodedBody(this.#framing, decoder)
    const isToBeUnchunked = dataAlone && decoder === undefined && this.#framing.kind === 'chunked'
    this.#sink = isToBeUnchunked ? new Unchunked(sink) : sink
    if (this.#begun) this.#source.block(false)
    this.#begun = false
    this.#source.proceed()
  }

  collect(limit: number, collector: Collector): void {
    const body = new CollectedBody(this.#framing, limit)
    if (body.tooLong) {
      collector.onTooLong()
      return
    }
    this.#collecting = { body, collector }
    this.#source.proceed()
  }

  resume(): void {
    this.#source.block(false)
  }

  /** Hands over every byte from now on, to whoever has the body: the connection left HTTP. */
  passAll(): void {
    this.#reader =
      this.#switched === undefined ? new BodyFramer(UNTIL_CLOSE, NO_NAMES) : new SwitchedBody(this.#switched)
    this.done = false
    this.#source.proceed()
  }

  /** The child said its end behind the last byte. */
  end(): void {
    this.done = true
    this.#sink?.end()
  }

  /** Takes what `bytes` hold of it; returns how many they were. */
  read(bytes: Buffer): number {
    if (this.#collecting !== undefined) return this.#collect(this.#collecting, bytes)
    const reader = this.#reader
    const sink = this.#sink
    if (reader === undefined || sink === undefined) return 0
    const taken = reader.read(bytes, 0)
    this.#begun = true
    if (reader.malformed) {
      this.#sink = undefined
      this.#source.onBodyMalformed()
      return taken
    }
    this.bytes += taken
    this.done = reader.done
    if (!sink.write(joined('', bytes.subarray(0, reader.passEnd), reader.replacement))) this.#source.block(true)
    if (reader.done) {
      sink.end()
      this.#source.onBodyEnd()
    }
    return taken
  }

  #collect({ body, collector }: Collecting, bytes: Buffer): number {
    const taken = body.take(bytes)
    if (!body.malformed && !body.tooLong && !body.done) return taken
    this.#collecting = undefined
    if (body.malformed) this.#source.onBodyMalformed()
    else if (body.tooLong) collector.onTooLong()
    else {
      this.done = true
      collector.onCollected(body.body(), body.digest())
    }
    return taken
  }
}
