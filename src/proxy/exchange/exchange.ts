import { auditedTarget, type ResolvedCredential } from '../../injection/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { ResolveRequest } from '../../schemas/index.ts'
import {
  type AnswerEvents,
  BODY_TOO_LONG_TO_SIGN,
  type Body,
  type ChildStream,
  type Collector,
  credentialInvalid,
  credentialRefused,
  DialError,
  isBodiless,
  type LeaseTerms,
  type Loss,
  malformedRequest,
  type OutgoingRequest,
  pathOf,
  type Refusal,
  type RequestEvents,
  type RequestHead,
  type ResponseHead,
  type UpstreamStream,
  upstreamUnreachable,
} from '../messages/index.ts'
import { bare, inject } from './inject.ts'
import type { Order, Services } from './order.ts'

/** A request that can be sent, and what is known of it. Made anew for each credential. */
interface Attempt {
  readonly request: OutgoingRequest
  readonly body: Body
  /** Absent where nothing was injected. */
  readonly used: UsedCredential | undefined
  readonly retried: boolean
}

/** How far an exchange is. What a state does not hold is not there yet, or no more. */
type State =
  /** Nothing is asked and nothing sent before the body's hash is known. */
  | { readonly kind: 'collecting' }
  /** The daemon is asked for the credential. */
  | { readonly kind: 'asking' }
  | { readonly kind: 'leasing'; readonly attempt: Attempt }
  /** The request goes out; of its final answer nothing came. */
  | { readonly kind: 'sending'; readonly attempt: Attempt; readonly upstream: UpstreamStream }
  /** The child gets this 401, unless the daemon has another credential than the one it refuses. */
  | Held
  /** The answer goes to the child, perhaps while the request still goes out. */
  | Relaying
  /** The stream left HTTP: bytes pass both ways, and nothing is left to decide. */
  | { readonly kind: 'switched'; readonly upstream: UpstreamStream }
  | { readonly kind: 'done' }

interface Answered {
  readonly attempt: Attempt
  readonly upstream: UpstreamStream
  readonly status: number
  readonly body: Body
}

/** What there is of an exchange, whatever its state. */
interface Known extends Partial<Answered> {
  readonly kind?: State['kind']
}

interface Held extends Answered {
  readonly kind: 'held'
  readonly head: ResponseHead
  /** Of the credential that was refused. */
  readonly version: number
}

interface Relaying extends Answered {
  readonly kind: 'relaying'
}

const COLLECTING: State = { kind: 'collecting' }
const ASKING: State = { kind: 'asking' }
const DONE: State = { kind: 'done' }

/** Longer bodies are not collected. */
const MAX_COLLECTED = 32 * 1024 * 1024
// A lost connection tells nothing of whether such a request was carried out, but a second time changes nothing.
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/**
 * One request and its answer: asks, injects, sends, and has what comes back relayed. Bytes never pass here: the edge that
 * writes a message draws its body from the edge that reads it.
 */
export class Exchange implements RequestEvents, AnswerEvents, Collector {
  readonly #child: ChildStream
  readonly #order: Order
  readonly #services: Services
  readonly #startedAt = performance.now()
  #state: State = ASKING

  constructor(child: ChildStream, order: Order, services: Services) {
    this.#child = child
    this.#order = order
    this.#services = services
  }

  start(): void {
    this.#child.listen(this)
    const { question, requestTarget, proxyFields, signed } = this.#order
    const { body } = this.#child
    if (question === undefined) {
      const request = bare(this.#sentHead, requestTarget, proxyFields)
      this.#lease({ request, body, used: undefined, retried: false }, 'any')
    } else if (signed?.collects) this.#collect()
    else this.#ask(question, body)
  }

  onCollected(body: Body, sha256: string): void {
    const question = this.#order.signed?.collects?.(sha256)
    if (this.#state.kind === 'collecting' && question !== undefined) this.#ask(question, body)
  }

  onTooLong(): void {
    this.#refuse(BODY_TOO_LONG_TO_SIGN)
  }

  onRequestEnd(): void {
    if (this.#state.kind === 'relaying' && this.#state.body.done) this.#finish(this.#state)
  }

  onRequestMalformed(): void {
    const state = this.#state
    if (state.kind === 'done') return
    this.#close()
    if (state.kind === 'switched') {
      this.#child.abort({ reason: 'protocol' })
      return
    }
    this.#audit(state, state.kind === 'collecting' ? 'denied' : 'failure', 'malformed_body')
    this.#child.refuse(malformedRequest({ status: 400, reason: 'body' }))
  }

  onGone(code?: number): void {
    const state = this.#state
    if (state.kind === 'done') return
    this.#close(code)
    if (state.kind === 'switched') return
    this.#services.log({ event: 'child_gone', host: this.#order.target.host })
    this.#audit(state, 'status' in state ? statusWord(state.status) : 'failure', 'client_abort')
  }

  onInterim(head: ResponseHead): void {
    if (this.#state.kind === 'sending') this.#child.interim(head)
  }

  onAnswer(head: ResponseHead, body: Body): void {
    if (this.#state.kind !== 'sending') return
    const { attempt, upstream } = this.#state
    const { status } = head
    if (status === 401 && this.#holds(attempt, upstream, head, body)) return
    this.#relay({ kind: 'relaying', attempt, upstream, status, body }, head)
  }

  onSwitched(head: ResponseHead, body: Body): void {
    if (this.#state.kind !== 'sending') return
    const { attempt, upstream } = this.#state
    this.#state = { kind: 'switched', upstream }
    this.#audit({ attempt, status: head.status, body }, 'success')
    this.#child.switchTo(head, body)
  }

  onAnswerEnd(): void {
    if (this.#state.kind === 'relaying' && this.#child.body.done) this.#finish(this.#state)
  }

  onLost(loss: Loss): void {
    const state = this.#state
    switch (state.kind) {
      case 'sending':
        if (loss.unread && REPEATABLE.has(this.#child.head.method) && this.#isBodiless) this.#repeat(state)
        else if (this.#child.version === 'h2' && loss.code !== undefined) this.#cutOff(state, loss)
        else this.#refuse(this.#unreachable(loss))
        break
      case 'relaying':
        if (state.body.done) this.#finish(state)
        else this.#cutOff(state, loss)
        break
      case 'switched':
        this.#close()
        this.#child.abort(loss)
    }
  }

  #collect(): void {
    this.#state = COLLECTING
    this.#child.body.collect(MAX_COLLECTED, this)
    if (this.#state.kind === 'collecting') this.#invite()
  }

  /** Asks for the body of a child that waits to be asked, and whose service cannot ask yet. */
  #invite(): void {
    if (this.#child.head.fields.some(({ name }) => name === 'expect')) this.#child.invite()
  }

  #ask(question: ResolveRequest, body: Body): void {
    this.#state = ASKING
    this.#services.questions.ask(question, (outcome) => {
      if (this.#state.kind !== 'asking') return
      if (outcome instanceof Error) this.#refuse(credentialRefused(outcome, this.#order.target.host), aboutOf(outcome))
      else this.#inject(outcome, body)
    })
  }

  #inject(resolution: ResolvedCredential, body: Body): void {
    const attempt = this.#attemptWith(resolution, body)
    if (attempt instanceof BrokerError) this.#refuse(credentialInvalid(attempt), usedBy(resolution))
    else this.#lease(attempt, 'any')
  }

  /** @param retried whether the child's request was answered once before */
  #attemptWith(resolution: ResolvedCredential, body: Body, retried = false): Attempt | BrokerError {
    try {
      const { requestTarget, signed } = this.#order
      const decoder = signed?.decoder
      const injected = inject(this.#sentHead, requestTarget, resolution)
      const request = decoder === undefined ? injected : { ...injected, decoder }
      return { request, body, used: usedBy(resolution), retried }
    } catch (error) {
      if (error instanceof BrokerError) return error
      throw error
    }
  }

  get #sentHead(): RequestHead {
    return this.#order.signed?.head ?? this.#child.head
  }

  get #isBodiless(): boolean {
    return isBodiless(this.#child.head.framing)
  }

  #lease(attempt: Attempt, choice: 'any' | 'fresh'): void {
    this.#state = { kind: 'leasing', attempt }
    const { version, head } = this.#child
    const { provider = '', connection = '' } = attempt.used ?? {}
    const terms: LeaseTerms = { choice, version, account: `${provider}/${connection}`, switches: head.upgrade }
    this.#services.upstreams.lease(this.#order.target, terms, (outcome) => {
      if (outcome instanceof DialError) {
        if (this.#state.kind === 'leasing') this.#refuse(outcome.refusal)
      } else if (this.#state.kind === 'leasing') this.#send(attempt, outcome)
      else outcome.release()
    })
  }

  #send(attempt: Attempt, upstream: UpstreamStream): void {
    this.#state = { kind: 'sending', attempt, upstream }
    if (attempt.request.waitsForBody) this.#invite()
    upstream.send(attempt.request, attempt.body, this)
  }

  #relay(state: Relaying, head: ResponseHead): void {
    this.#state = state
    this.#child.respond(head, state.body)
  }

  /**
   * Tells the daemon of a credential that was refused, where it can refresh that. A request that can be sent again waits for
   * its answer: then this is true.
   */
  #holds(attempt: Attempt, upstream: UpstreamStream, head: ResponseHead, body: Body): boolean {
    const { question, target } = this.#order
    const version = attempt.used?.version
    if (attempt.retried || question === undefined || version === undefined) return false
    const { questions, log } = this.#services
    const rejected = { ...question, rejected_version: version }
    if (!this.#isBodiless) {
      questions.ask(rejected, (outcome) => {
        if (outcome instanceof Error) log({ event: 'not_refreshed', host: target.host, reason: outcome.name })
      })
      return false
    }
    this.#state = { kind: 'held', attempt, upstream, status: head.status, head, body, version }
    questions.ask(rejected, (outcome) => {
      if (this.#state.kind === 'held') this.#decide(this.#state, outcome)
    })
    return true
  }

  /** Sends the request again where the daemon has another credential; else the child gets the answer that was held. */
  #decide(held: Held, outcome: ResolvedCredential | Error): void {
    if (outcome instanceof Error) this.#letGo(held, outcome.name)
    else if (outcome.version === held.version) this.#letGo(held, 'no_other_credential')
    else this.#retry(held, outcome)
  }

  #retry(held: Held, resolution: ResolvedCredential): void {
    const attempt = this.#attemptWith(resolution, held.attempt.body, true)
    if (attempt instanceof BrokerError) {
      this.#letGo(held, 'credential_invalid')
      return
    }
    held.upstream.release()
    // Many a service closes after a 401; what is lost with a kept connection could not be sent once more.
    this.#lease(attempt, REPEATABLE.has(this.#child.head.method) ? 'any' : 'fresh')
  }

  #letGo({ attempt, upstream, status, head, body }: Held, reason: string): void {
    this.#services.log({ event: 'not_retried', host: this.#order.target.host, reason })
    this.#relay({ kind: 'relaying', attempt, upstream, status, body }, head)
  }

  #repeat({ attempt, upstream }: { readonly attempt: Attempt; readonly upstream: UpstreamStream }): void {
    upstream.discard()
    this.#lease(attempt, 'fresh')
  }

  #unreachable({ reason }: Loss): Refusal {
    return upstreamUnreachable(this.#order.target.host, reason === 'protocol' ? 'protocol' : 'reset')
  }

  #cutOff(state: Known, loss: Loss): void {
    this.#close()
    this.#audit(state, 'failure', loss.reason)
    this.#child.abort(loss)
  }

  #finish(state: Answered): void {
    this.#state = DONE
    state.upstream.release()
    this.#audit(state, statusWord(state.status))
    this.#child.finish()
  }

  /** @param about what is known of a credential that was not sent */
  #refuse(refusal: Refusal, about: About = {}): void {
    const state = this.#state
    if (state.kind === 'done') return
    this.#close()
    this.#services.log({ event: 'refused', host: this.#order.target.host, reason: refusal.reason })
    const wasSendable = 'attempt' in state && refusal.status !== 403
    this.#audit(state, wasSendable ? 'failure' : 'denied', refusal.reason, about)
    this.#child.refuse(refusal)
  }

  #close(code?: number): void {
    const state = this.#state
    this.#state = DONE
    if ('upstream' in state) state.upstream.discard(code)
  }

  /** Tells of every injected request, and of every one that was denied. */
  #audit(
    { attempt, status: answered, body }: Known,
    status: 'success' | 'failure' | 'denied',
    reason = attempt?.retried ? 'retried_after_401' : undefined,
    about: About = {},
  ): void {
    const { question, target } = this.#order
    const used = attempt?.used
    const { provider, connection, release, audited = unchanged } = used ?? about
    if (status !== 'denied' && (question === undefined || used === undefined)) return
    const dialled = attempt && this.#services.dialled(target)
    this.#services.audit.record({
      event: status === 'denied' ? 'proxy.denied' : 'proxy.request',
      ...(provider !== undefined && { provider }),
      ...(connection !== undefined && { connection }),
      status,
      ...(reason === undefined ? {} : { reason }),
      ...(dialled !== undefined && { dialled }),
      ...(release !== undefined && { release }),
      request: {
        method: this.#child.head.method,
        host: target.host,
        port: target.port,
        // As the child sent it, but for the segment where the key goes: it may have put one of its own there.
        path: pathOf(audited(this.#order.requestTarget)).slice(0, 8192),
        ...(answered !== undefined && { status: answered }),
        duration_ms: Math.round((performance.now() - this.#startedAt) * 1000) / 1000,
        bytes_in: body?.bytes ?? 0,
        bytes_out: attempt?.body.bytes ?? 0,
      },
    })
  }
}

/** What the audit log may say of a credential: of the one that was injected, or of the one that was not to be had. */
interface About {
  readonly provider?: string | undefined
  readonly connection?: string | undefined
  readonly release?: number | undefined
  /** The request target as the audit log may show it. */
  audited?(target: string): string
}

/** What is kept of a credential that was injected: its secrets are in the outgoing head alone. */
interface UsedCredential extends About {
  readonly version: number | undefined
}

function usedBy({ provider, connection, version, release, places }: ResolvedCredential): UsedCredential {
  const named = places.map(({ in: kind, name }) => ({ in: kind, name }))
  return { provider, connection, version, release, audited: (target) => auditedTarget(named, target) }
}

function aboutOf(error: Error): About {
  if (!(error instanceof BrokerError)) return {}
  const { provider, connection } = error.options
  return { provider, connection }
}

function unchanged(target: string): string {
  return target
}

function statusWord(status: number): 'success' | 'failure' {
  return status < 400 ? 'success' : 'failure'
}
