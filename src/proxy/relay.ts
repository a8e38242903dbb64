import type { Socket } from 'node:net'
import type { Authority } from '../network/index.ts'
import { Exchange, type Services as ExchangeServices, type Order } from './exchange/index.ts'
import { ChildConnection, type ChildRequest } from './http1/index.ts'
import { ChildSession } from './http2/index.ts'
import { isHalfClosed } from './loopback-sockets.ts'
import type { ChildStream, Refusal, RequestHead } from './messages/index.ts'

/** What is to be done with a request. */
export type Verdict =
  | Order
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  | ConnectOrder
  /** JSON of the proxy itself. */
  | { readonly kind: 'answer'; readonly body: string }

export interface ConnectOrder {
  readonly kind: 'connect'
  readonly target: Authority
  /** Tunnelled as it is, whatever the host. */
  readonly isUntouched: boolean
}

/** Decides on each request by its head alone, and hears of those that were refused before an exchange began. */
export interface Judge {
  judge(head: RequestHead): Verdict
  refused(refusal: Refusal, head: RequestHead | undefined): void
  /** Takes the connection over after CONNECT; `rest` came behind its head. */
  connect?(order: ConnectOrder, rest: Buffer): void
}

export interface Services extends ExchangeServices {
  /** Every connection of the child that requests are read from. */
  readonly relays: Set<{ abandon(): void }>
}

interface RelayOptions {
  /** What requests are read from. */
  readonly socket: Socket
  /** The TCP socket under it; the same where there is no TLS. */
  readonly transport: Socket
  readonly judge: Judge
  readonly services: Services
}

/** Reads the requests of one connection of the child, has each judged, and does what was decided. */
export function relay({ socket, transport, judge, services }: RelayOptions): void {
  new ChildConnection({
    socket,
    transport,
    open: services.relays,
    onRequest: (request) => carryOut(request, judge, services),
    isHalfClosed: () => isHalfClosed(transport),
    onMalformed: (refusal) => judge.refused(refusal, undefined),
  })
}

/** The same of a connection whose child speaks HTTP/2. */
export function relayStreams({ socket, scheme, judge, services }: StreamsOptions): void {
  new ChildSession({
    socket,
    scheme,
    open: services.relays,
    onRequest: (request) => {
      const verdict = judge.judge(request.head)
      if (verdict.kind !== 'connect') answerOrForward(request, verdict, judge, services)
    },
    onMalformed: (refusal) => judge.refused(refusal, undefined),
  })
}

interface StreamsOptions extends Pick<RelayOptions, 'socket' | 'judge' | 'services'> {
  readonly scheme: 'http' | 'https'
}

function carryOut(request: ChildRequest, judge: Judge, services: Services): void {
  const verdict = judge.judge(request.head)
  if (verdict.kind === 'connect') judge.connect?.(verdict, request.takeOver())
  else answerOrForward(request, verdict, judge, services)
}

function answerOrForward(
  request: ChildStream,
  verdict: Exclude<Verdict, ConnectOrder>,
  judge: Judge,
  services: Services,
): void {
  switch (verdict.kind) {
    case 'forward':
      new Exchange(request, verdict, services).start()
      break
    case 'refuse':
      judge.refused(verdict.refusal, request.head)
      request.refuse(verdict.refusal)
      break
    case 'answer':
      request.tell(verdict.body)
  }
}
