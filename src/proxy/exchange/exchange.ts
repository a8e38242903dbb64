import type { Socket } from 'node:net'
import { PLACES, type ResolvedCredential } from '../../injection/index.ts'
import type { Authority } from '../../network/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { ResolveRequest, ShippedEvent } from '../../schemas/index.ts'
import {
  AnswerReader,
  type AnswerTaker,
  BodyFramer,
  type BodyReader,
  isBodiless,
  joined,
  type Lessee,
  pathOf,
  type RequestHead,
  type ResponseHead,
  type UpstreamConnection,
  type UpstreamPool,
} from '../http1/index.ts'
import {
  BODY_TOO_LONG_TO_SIGN,
  credentialInvalid,
  credentialRefused,
  DialError,
  type Refusal,
  upstreamUnreachable,
} from '../messages/index.ts'
import { injectedHead, type OutgoingHead, plainHead, withoutInjection } from './inject.ts'
import type { SignedOrder } from './signed-order.ts'

/** Where a judged request goes, and what the daemon is asked about it. */
export interface Order {
  readonly kind: 'forward'
  readonly target: Authority
  /** The request target as the upstream shall see it. */
  readonly requestTarget: string
  /** Header lines for a proxy on the way. */
  readonly extraLines: string
  /** Asked before the request is sent; without it nothing is injected. */
  readonly question: ResolveRequest | undefined
  /** How it is signed, where its service wants that. */
  readonly signed?: SignedOrder
}

/** How the daemon is asked for the credential of a request. */
export interface Questions {
  /** Calls `answered` once, later, with the resolution or the error that refuses it. */
  ask(question: ResolveRequest, answered: (outcome: ResolvedCredential | Error) => void): void
}

/** What is known of an event where it happens; id, time and run are added where it is sent. */
export type AuditEntry = Omit<ShippedEvent, 'id' | 'timestamp' | 'run_id'>

/** Where events go, never in a request's way. */
export interface AuditTrail {
  record(entry: AuditEntry): void
}

export interface Services {
  readonly pool: UpstreamPool
  readonly questions: Questions
  readonly audit: AuditTrail
  /** Debug log. */
  readonly log: (event: object) => void
  /** Every connection of the child that is read by a relay. */
  readonly relays: Set<{ abandon(): void }>
}

/** The child's side, as the exchange needs it. */
export interface ChildSide {
  readonly socket: Socket
  /** The upstream connection is there: {@link Exchange.upload} takes bytes from now on. */
  upstreamReady(): void
  /** Stop or go on reading from the child, as the upstream can take it. */
  uploadBlocked(blocked: boolean): void
  refuse(refusal: Refusal): void
  /** The answer is complete (`keep`, `close`), or was cut off (`abort`, and `reset` where only a reset shows it). */
  finished(next: 'keep' | 'close' | 'abort' | 'reset'): void
}

/** Milliseconds of silence before a switched connection is probed; it is never closed for being idle. */
const KEEP_ALIVE = 30_000
// A lost connection tells nothing of whether such a request was carried out, but a second time changes nothing.
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
/** Bytes of a body that are read while its answer is held; the rest waits with the upstream. */
const MAX_HELD = 65_536
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/** One request and its answer: asks, injects, sends, and relays what comes back. */
export class Exchange implements Lessee, AnswerTaker {
  readonly #head: RequestHead
  readonly #order: Order
  readonly #child: ChildSide
  readonly #services: Services
  readonly #startedAt = performance.now()
  #answer: AnswerReader
  #outgoing: OutgoingHead | undefined
  /** What the daemon's refusal was about. */
  #about: { readonly provider?: string; readonly connection?: string } | undefined
  /** What was injected last, without its secrets: they are in the outgoing head alone. */
  #used: UsedCredential | undefined
  #upstream: UpstreamConnection | undefined
  #upload: BodyReader | undefined
  /** The body, until its hash is known: nothing is asked and nothing sent before. */
  #collecting: SignedOrder['collects']
  /** What the child will get of a 401, unless the daemon has another credential than the one it refuses. */
  #held: Buffer[] | undefined
  #retried = false
  #headSent = false
  #over = false
  #bytesOut = 0

  constructor(head: RequestHead, order: Order, child: ChildSide, services: Services) {
    this.#head = head
    this.#order = order
    this.#child = child
    this.#services = services
    this.#answer = new AnswerReader(head, this)
  }

  start(): void {
    const { question, requestTarget, extraLines, signed } = this.#order
    if (question === undefined) {
      this.#prepared(withoutInjection(plainHead(this.#head, requestTarget, extraLines)))
      return
    }
    this.#upload = signed?.body
    if (signed?.collects) this.#collect(signed.collects)
    else this.#ask(question)
  }

  #ask(question: ResolveRequest): void {
    this.#services.questions.ask(question, (outcome) => {
      if (this.#over) return
      if (outcome instanceof Error) this.#refuse(credentialRefused(outcome, this.#order.target.host), outcome)
      else this.#inject(outcome)
    })
  }

  #collect(collects: NonNullable<SignedOrder['collects']>): void {
    this.#collecting = collects
    if (collects.body.tooLong) this.#refuse(BODY_TOO_LONG_TO_SIGN)
    else if (this.#head.fields.some(({ name }) => name === 'expect')) this.#child.socket.write(CONTINUE)
  }

  /** Takes what there is of a body that is collected; as {@link upload}. */
  #takeBody({ body, question }: NonNullable<SignedOrder['collects']>, bytes: Buffer): number {
    const taken = body.take(bytes)
    if (body.malformed) {
      this.#close()
      this.#audit('denied', 'malformed_body')
      return -1
    }
    if (body.tooLong) this.#refuse(BODY_TOO_LONG_TO_SIGN)
    else if (body.done) {
      this.#collecting = undefined
      this.#upload = body.reader()
      this.#ask(question(body.digest()))
    }
    return taken
  }

  /** Whether the request's body has been read to its end, or there is none. */
  get requestDone(): boolean {
    return this.#upload === undefined ? isBodiless(this.#head.framing) : this.#upload.done
  }

  /** Whether {@link upload} has something to do, be it to send the head alone. */
  get wantsUpload(): boolean {
    if (this.#collecting !== undefined) return true
    return this.#upstream !== undefined && (!this.#headSent || this.switched || !this.requestDone)
  }

  /** Whether the child keeps its connection after an answer of ours. */
  get keepsChild(): boolean {
    return this.requestDone && this.#head.keepAlive
  }

  /** Whether the connection left HTTP: every byte passes. */
  get switched(): boolean {
    return this.#answer.state === 'switched'
  }

  /** Sends the head and what `bytes` hold of the body; returns how many were taken, or -1 where the body is malformed. */
  upload(bytes: Buffer): number {
    if (this.#collecting !== undefined) return this.#takeBody(this.#collecting, bytes)
    if (this.#upstream === undefined || this.#outgoing === undefined) return 0
    if (this.switched) {
      this.#send(bytes)
      return bytes.length
    }
    this.#upload ??= new BodyFramer(this.#head.framing, this.#outgoing.injected)
    const taken = this.#upload.read(bytes, 0)
    if (this.#upload.malformed) {
      this.#close()
      this.#audit('failure', 'malformed_body')
      return -1
    }
    const head = this.#headSent ? '' : this.#outgoing.text
    this.#headSent = true
    this.#bytesOut += taken
    this.#send(joined(head, bytes.subarray(0, this.#upload.passEnd), this.#upload.trailers))
    if (this.#upload.done && this.#answer.state === 'done') this.#finish()
    return taken
  }

  /** The child is gone, or its connection is given up. */
  childGone(): void {
    if (this.#over) return
    this.#close()
    if (this.switched) return
    this.#services.log({ event: 'child_gone', host: this.#order.target.host })
    const { head } = this.#answer
    this.#audit(head === undefined ? 'failure' : statusWord(head.status), 'client_abort')
  }

  childDrained(): void {
    const socket = this.#upstream?.socket
    if (this.#held === undefined && socket?.isPaused()) socket.resume()
  }

  /** The child's orderly end, once the connection was switched. */
  childEnded(): void {
    this.#upstream?.socket.end()
  }

  onUpstreamData(chunk: Buffer): void {
    if (this.switched) {
      this.#deliver(chunk)
      return
    }
    this.#answer.read(chunk)
    if (this.#held === undefined) this.#follow()
  }

  onAnswerHead({ status }: ResponseHead): void {
    if (status === 401 && !this.#retried) this.#credentialRejected()
  }

  onAnswerBytes(bytes: Buffer): void {
    if (this.#held === undefined) {
      this.#deliver(bytes)
      return
    }
    // Of an empty part the whole chunk behind it would be held.
    if (bytes.length > 0) this.#held.push(bytes)
    if (this.#answer.bytes > MAX_HELD) this.#upstream?.socket.pause()
  }

  onUpstreamDrain(): void {
    this.#child.uploadBlocked(false)
  }

  onUpstreamEnd(): void {
    if (this.switched) {
      this.#child.socket.end()
      return
    }
    this.#answer.close()
    this.#lost()
  }

  onUpstreamClose(): void {
    if (this.switched) this.#child.socket.destroy()
    else this.#lost()
  }

  #inject(resolution: ResolvedCredential): void {
    this.#used = usedBy(resolution)
    const outgoing = headWith(resolution, this.#sentHead)
    if (outgoing instanceof BrokerError) this.#refuse(credentialInvalid(outgoing))
    else this.#prepared(outgoing)
  }

  get #sentHead(): RequestHead {
    const { signed, requestTarget } = this.#order
    return signed?.head ?? (requestTarget === this.#head.target ? this.#head : { ...this.#head, target: requestTarget })
  }

  #prepared(outgoing: OutgoingHead): void {
    this.#outgoing = outgoing
    this.#lease('any')
  }

  #lease(choice: 'any' | 'fresh'): void {
    const { pool } = this.#services
    pool.lease(this.#order.target, choice, (outcome) => {
      if (this.#over) {
        if (!(outcome instanceof DialError)) pool.release(outcome)
        return
      }
      if (outcome instanceof DialError) {
        this.#refuse(outcome.refusal)
        return
      }
      this.#upstream = outcome
      outcome.lessee = this
      this.#child.upstreamReady()
    })
  }

  #send(bytes: Buffer): void {
    if (bytes.length > 0 && this.#upstream?.socket.write(bytes) === false) this.#child.uploadBlocked(true)
  }

  #deliver(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#child.socket.write(bytes)) this.#upstream?.socket.pause()
  }

  /** Acts on how far the answer is. */
  #follow(): void {
    switch (this.#answer.state) {
      case 'done':
        if (this.requestDone) this.#finish()
        break
      case 'switched':
        this.#switch()
        break
      case 'malformed':
        if (this.#answer.head === undefined) this.#refuse(upstreamUnreachable(this.#order.target.host, 'protocol'))
        else this.#cutOff('protocol')
    }
  }

  /** Tells the daemon, where it can refresh what was refused; a request that can be sent again waits for its answer. */
  #credentialRejected(): void {
    const { question, target } = this.#order
    const version = this.#used?.version
    if (question === undefined || version === undefined) return
    const rejected = { ...question, rejected_version: version }
    const { questions, log } = this.#services
    if (isBodiless(this.#head.framing)) {
      this.#held = []
      questions.ask(rejected, (outcome) => this.#decide(outcome, version))
      return
    }
    questions.ask(rejected, (outcome) => {
      if (outcome instanceof Error) log({ event: 'not_refreshed', host: target.host, reason: outcome.name })
    })
  }

  /** Sends the request again where the daemon has another credential; else the child gets the answer that was held. */
  #decide(outcome: ResolvedCredential | Error, rejectedVersion: number): void {
    if (this.#over) return
    if (outcome instanceof Error) this.#letGo(outcome.name)
    else if (outcome.version === rejectedVersion) this.#letGo('no_other_credential')
    else this.#retry(outcome)
  }

  #retry(resolution: ResolvedCredential): void {
    const outgoing = headWith(resolution, this.#sentHead)
    if (outgoing instanceof BrokerError) {
      this.#letGo('credential_invalid')
      return
    }
    this.#release(this.#isUpstreamClean ? 'keep' : 'discard')
    this.#held = undefined
    this.#retried = true
    this.#used = usedBy(resolution)
    this.#outgoing = outgoing
    this.#answer = new AnswerReader(this.#head, this)
    // Many a service closes after a 401; what is lost with a kept connection could not be sent once more.
    this.#sendAgain(REPEATABLE.has(this.#head.method) ? 'any' : 'fresh')
  }

  #letGo(reason: string): void {
    this.#services.log({ event: 'not_retried', host: this.#order.target.host, reason })
    const held = this.#held ?? []
    this.#held = undefined
    for (const bytes of held) this.#deliver(bytes)
    this.#follow()
    if (this.#over) return
    const socket = this.#upstream?.socket
    if (socket?.destroyed || socket?.readableEnded) this.#lost()
    else if (!this.#child.socket.writableNeedDrain) this.childDrained()
  }

  #switch(): void {
    this.#upstream?.socket.setKeepAlive(true, KEEP_ALIVE)
    this.#child.socket.setKeepAlive(true, KEEP_ALIVE)
    this.#audit('success')
    this.#child.upstreamReady()
  }

  /** The upstream will say no more. */
  #lost(): void {
    if (this.#over || this.#held !== undefined) return
    if (this.#answer.state === 'done') this.#finish()
    else if (this.#answer.head !== undefined) this.#cutOff('upstream_abort')
    else if (this.#mayRepeat()) this.#repeat()
    else this.#refuse(upstreamUnreachable(this.#order.target.host, 'reset'))
  }

  #mayRepeat(): boolean {
    const repeatable = REPEATABLE.has(this.#head.method) && isBodiless(this.#head.framing)
    return this.#upstream?.reused === true && !this.#answer.started && repeatable
  }

  #repeat(): void {
    this.#release('discard')
    this.#sendAgain('fresh')
  }

  #sendAgain(choice: 'any' | 'fresh'): void {
    this.#headSent = false
    this.#child.uploadBlocked(false)
    this.#lease(choice)
  }

  #cutOff(reason: 'upstream_abort' | 'protocol'): void {
    this.#close()
    this.#audit('failure', reason)
    this.#child.finished(this.#answer.head?.framing.kind === 'until_close' ? 'reset' : 'abort')
  }

  #finish(): void {
    const { head, closesChild } = this.#answer
    if (this.#over || head === undefined) return
    this.#over = true
    this.#release(this.#isUpstreamClean ? 'keep' : 'discard')
    this.#audit(statusWord(head.status))
    this.#child.finished(this.requestDone && !closesChild ? 'keep' : 'close')
  }

  /** Whether the upstream connection is at a message boundary, and may carry another request. */
  get #isUpstreamClean(): boolean {
    const { state, head, overran } = this.#answer
    const isKept = head?.reusable === true && !overran && this.#head.version === '1.1'
    return state === 'done' && this.requestDone && isKept
  }

  #refuse(refusal: Refusal, cause?: Error): void {
    if (cause instanceof BrokerError) this.#about = cause.options
    this.#close()
    this.#services.log({ event: 'refused', host: this.#order.target.host, reason: refusal.reason })
    if (refusal.status === 403 || this.#outgoing === undefined) this.#audit('denied', refusal.reason)
    else this.#audit('failure', refusal.reason)
    this.#child.refuse(refusal)
  }

  #close(): void {
    this.#over = true
    this.#release('discard')
  }

  #release(fate: 'keep' | 'discard'): void {
    const upstream = this.#upstream
    if (upstream === undefined) return
    this.#upstream = undefined
    if (fate === 'keep') this.#services.pool.release(upstream)
    else this.#services.pool.discard(upstream)
  }

  /** As the child sent it, but for the segment where the key goes: it may have put one of its own there. */
  get #auditedPath(): string {
    const { requestTarget } = this.#order
    return pathOf(this.#used?.audited(requestTarget) ?? requestTarget).slice(0, 8192)
  }

  /** Tells of every injected request, and of every one that was denied. */
  #audit(status: 'success' | 'failure' | 'denied', reason = this.#retried ? 'retried_after_401' : undefined): void {
    const { question, target } = this.#order
    const about = this.#used ?? this.#about
    if (status !== 'denied' && (question === undefined || this.#used === undefined)) return
    this.#services.audit.record({
      event: status === 'denied' ? 'proxy.denied' : 'proxy.request',
      ...(about?.provider !== undefined && { provider: about.provider }),
      ...(about?.connection !== undefined && { connection: about.connection }),
      status,
      ...(reason === undefined ? {} : { reason }),
      request: {
        method: this.#head.method,
        host: target.host,
        port: target.port,
        path: this.#auditedPath,
        ...(this.#answer.head && { status: this.#answer.head.status }),
        duration_ms: Math.round((performance.now() - this.#startedAt) * 1000) / 1000,
        bytes_in: this.#answer.bytes,
        bytes_out: this.#bytesOut,
      },
    })
  }
}

/** What the audit log and the next question have to know of a credential that was injected. */
interface UsedCredential {
  readonly provider: string
  readonly connection: string
  readonly version: number | undefined
  /** The request target as the audit log may show it. */
  audited(target: string): string
}

function usedBy({ provider, connection, version, places }: ResolvedCredential): UsedCredential {
  const named = places.map(({ in: kind, name }) => ({ kind, name }))
  const audited = (target: string) => named.reduce((shown, { kind, name }) => PLACES[kind].audited(shown, name), target)
  return { provider, connection, version, audited }
}

function headWith(resolution: ResolvedCredential, head: RequestHead): OutgoingHead | BrokerError {
  try {
    return injectedHead(head, resolution)
  } catch (error) {
    if (error instanceof BrokerError) return error
    throw error
  }
}

function statusWord(status: number): 'success' | 'failure' {
  return status < 400 ? 'success' : 'failure'
}
