import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ResolvedCredential } from '../../injection/index.ts'
import { authority } from '../../network/index.ts'
import { BrokerError, Secret } from '../../protocol/index.ts'
import type { ResolveRequest } from '../../schemas/index.ts'
import {
  type AnswerEvents,
  type Body,
  type ChildStream,
  type Collector,
  DialError,
  type Loss,
  type OutgoingRequest,
  type RequestHead,
  type ResponseHead,
  type UpstreamStream,
  upstreamUnreachable,
} from '../messages/index.ts'
import { type AuditEntry, Exchange, type Order } from './index.ts'

/** A child, a service and a daemon that say what the test has them say: no socket, no byte, no version of HTTP. */

const TARGET = authority('api.prov.test', 443)
const QUESTION: ResolveRequest = { host: TARGET.host, port: 443, method: 'GET', path: '/v1' }

function requestHead(more: Partial<RequestHead> = {}): RequestHead {
  const fields = [{ name: 'authorization', value: 'Bearer placeholder' }]
  const common = {
    method: 'GET',
    target: '/v1',
    version: '1.1',
    host: TARGET.host,
    connection: [],
    upgrade: false,
  } as const
  return { ...common, fields, framing: { kind: 'none' }, ...more }
}

const POST = requestHead({ method: 'POST', framing: { kind: 'length', length: 4 } })

function answerHead(status: number): ResponseHead {
  return { version: '1.1', status, fields: [], framing: { kind: 'length', length: 4 }, connection: [] }
}

function bodyOf({ bytes = 0, done = true }: { bytes?: number; done?: boolean } = {}) {
  return { bytes, done, flowTo: () => {}, resume: () => {} }
}

function resolution(version?: number): ResolvedCredential {
  const value = new Secret(`Bearer sk-CNRY${version ?? 0}`)
  const places = [{ in: 'header', name: 'Authorization', value }] as const
  return { provider: 'prov', connection: 'default', places, ...(version !== undefined && { version }) }
}

interface Sent {
  readonly request: OutgoingRequest
  readonly body: Body
  readonly events: AnswerEvents
  readonly stream: UpstreamStream
}

function setUp(order: Partial<Order> = {}, head = requestHead()) {
  /** What happened, in its order. */
  const happened: string[] = []
  const asked: { question: ResolveRequest; answer: (outcome: ResolvedCredential | Error) => void }[] = []
  const leases: ((outcome: UpstreamStream | DialError) => void)[] = []
  const sent: Sent[] = []
  const audited: AuditEntry[] = []
  const collecting: Collector[] = []
  const body = {
    ...bodyOf({ done: head.framing.kind === 'none' }),
    collect: (_: number, collector: Collector) => void collecting.push(collector),
  }
  const child: ChildStream = {
    version: 'http/1.1',
    head,
    body,
    listen: () => {},
    invite: () => happened.push('invite'),
    interim: ({ status }) => happened.push(`interim ${status}`),
    respond: ({ status }) => happened.push(`respond ${status}`),
    switchTo: ({ status }) => happened.push(`switch ${status}`),
    refuse: ({ status, reason }) => happened.push(`refuse ${status} ${reason}`),
    tell: () => happened.push('tell'),
    finish: () => happened.push('finish'),
    abort: ({ reason, code }) => happened.push(`abort ${reason} ${code}`),
  }
  const stream = (): UpstreamStream => ({
    send(request, sentBody, events) {
      happened.push('send')
      sent.push({ request, body: sentBody, events, stream: this })
    },
    release: () => happened.push('release'),
    discard: () => happened.push('discard'),
  })
  const exchange = new Exchange(
    child,
    { kind: 'forward', target: TARGET, requestTarget: '/v1', proxyFields: [], question: QUESTION, ...order },
    {
      upstreams: {
        lease: (_, { choice }, taken) => {
          happened.push(`lease ${choice}`)
          leases.push(taken)
        },
      },
      questions: { ask: (question, answer) => void asked.push({ question, answer }) },
      audit: { record: (entry) => void audited.push(entry) },
      dialled: () => '127.0.0.1:8443',
      log: () => {},
    },
  )
  exchange.start()
  return {
    happened,
    asked,
    sent,
    audited,
    collecting,
    body,
    exchange,
    stream,
    answer: (outcome: ResolvedCredential | Error) => asked.at(-1)?.answer(outcome),
    lease: (outcome: UpstreamStream | DialError = stream()) => leases.at(-1)?.(outcome),
    /** As far as that the request is on its way. */
    send(version?: number) {
      this.answer(resolution(version))
      this.lease()
      return sent.at(-1)?.events ?? assert.fail('nothing was sent')
    },
    headers: () => sent.map(({ request }) => request.fields.map(({ value }) => value).join()),
    events: () => audited.map(({ event, status, reason }) => `${event} ${status} ${reason}`),
  }
}

const LOST: Loss = { reason: 'upstream_abort', unread: false }
const UNREAD: Loss = { reason: 'upstream_abort', unread: true }

describe('an exchange', () => {
  it('asks, injects, sends, relays, and tells of it', () => {
    const world = setUp()
    assert.deepEqual(world.happened, [], 'nothing is sent before the daemon has answered')
    const events = world.send()
    events.onInterim(answerHead(103))
    events.onAnswer(answerHead(200), bodyOf({ bytes: 4 }))
    events.onAnswerEnd()
    assert.deepEqual(world.happened, ['lease any', 'send', 'interim 103', 'respond 200', 'release', 'finish'])
    assert.deepEqual(world.headers(), ['Bearer sk-CNRY0'])
    assert.deepEqual(world.sent[0]?.request.injected, new Set(['authorization']))
    assert.deepEqual(world.events(), ['proxy.request success undefined'])
    assert.equal(world.audited[0]?.request?.status, 200)
    assert.equal(world.audited[0]?.request?.bytes_in, 4)
  })

  it('sends what nobody asks about as it is, with the fields of a proxy on the way in place of its own', () => {
    const head = requestHead({ fields: [{ name: 'proxy-authorization', value: 'own' }] })
    const proxyFields = [{ name: 'proxy-authorization', value: 'theirs' }]
    const world = setUp({ question: undefined, proxyFields }, head)
    world.lease()
    assert.equal(world.asked.length, 0)
    assert.deepEqual(world.headers(), ['theirs'])
    world.sent[0]?.events.onAnswer(answerHead(200), bodyOf())
    world.sent[0]?.events.onAnswerEnd()
    assert.deepEqual(world.events(), [])
  })

  it('sends nothing where the daemon refuses', () => {
    const world = setUp()
    world.answer(new BrokerError('ConnectionNotFoundError', 'none', { provider: 'prov' }))
    assert.deepEqual(world.happened, ['refuse 403 connection_not_found'])
    assert.deepEqual(world.events(), ['proxy.denied denied connection_not_found'])
    assert.equal(world.audited[0]?.provider, 'prov')
  })

  it('sends nothing where the credential would break the request', () => {
    const world = setUp()
    const places = [{ in: 'header', name: 'Authorization', value: new Secret('Bearer CNRY\nX: y') }] as const
    world.answer({ provider: 'prov', connection: 'default', places })
    assert.deepEqual(world.happened, ['refuse 502 credential_invalid'])
    assert.deepEqual(world.events(), ['proxy.denied denied credential_invalid'])
  })

  it('says why there is no way to the service', () => {
    const world = setUp()
    world.answer(resolution())
    world.lease(new DialError(upstreamUnreachable(TARGET.host, 'dns')))
    assert.deepEqual(world.happened, ['lease any', 'refuse 502 dns'])
    assert.deepEqual(world.events(), ['proxy.request failure dns'])
  })

  it('ends when both request and answer have ended, whichever is first', () => {
    const world = setUp({}, POST)
    const events = world.send()
    events.onAnswer(answerHead(200), bodyOf())
    events.onAnswerEnd()
    assert.equal(world.happened.at(-1), 'respond 200')
    world.body.done = true
    world.exchange.onRequestEnd()
    assert.deepEqual(world.happened.slice(-2), ['release', 'finish'])
  })

  it('ends with a whole answer, though the service takes no more of the request', () => {
    const world = setUp({}, POST)
    const events = world.send()
    events.onAnswer(answerHead(413), bodyOf())
    events.onAnswerEnd()
    events.onLost(LOST)
    assert.deepEqual(world.happened.slice(-2), ['release', 'finish'])
    assert.deepEqual(world.events(), ['proxy.request failure undefined'])
  })

  it('cuts the answer off where the service does, with its code', () => {
    const world = setUp()
    const events = world.send()
    events.onAnswer(answerHead(200), bodyOf({ done: false }))
    events.onLost({ ...LOST, code: 2 })
    assert.deepEqual(world.happened.slice(-2), ['discard', 'abort upstream_abort 2'])
    assert.deepEqual(world.events(), ['proxy.request failure upstream_abort'])
  })

  it('refuses a request whose body breaks its grammar', () => {
    const world = setUp({}, POST)
    world.send()
    world.exchange.onRequestMalformed()
    assert.deepEqual(world.happened.slice(-2), ['discard', 'refuse 400 malformed_body'])
    assert.deepEqual(world.events(), ['proxy.request failure malformed_body'])
  })
})

describe('a request that was lost', () => {
  for (const [what, head, loss] of [
    ['was perhaps carried out', POST, UNREAD],
    ['was read', requestHead(), LOST],
  ] as const)
    it(`is not sent again where it ${what}`, () => {
      const world = setUp({}, head)
      world.send().onLost(loss)
      assert.deepEqual(world.happened, ['lease any', 'send', 'discard', 'refuse 502 reset'])
    })

  it('is sent again on a fresh connection where nobody read it and twice is as good as once', () => {
    const world = setUp()
    world.send().onLost(UNREAD)
    world.lease()
    assert.deepEqual(world.happened, ['lease any', 'send', 'discard', 'lease fresh', 'send'])
    assert.deepEqual(world.headers(), ['Bearer sk-CNRY0', 'Bearer sk-CNRY0'])
  })

  it('is answered with what was wrong where the answer is no HTTP', () => {
    const world = setUp()
    world.send().onLost({ reason: 'protocol', unread: false })
    assert.equal(world.happened.at(-1), 'refuse 502 protocol')
  })
})

describe('a credential that the service refuses', () => {
  it('has its answer held, and the request sent again with another one', () => {
    const world = setUp()
    world.send(1).onAnswer(answerHead(401), bodyOf())
    assert.equal(world.happened.at(-1), 'send', 'the child hears nothing yet')
    assert.equal(world.asked[1]?.question.rejected_version, 1)
    const events = world.send(2)
    assert.deepEqual(world.headers(), ['Bearer sk-CNRY1', 'Bearer sk-CNRY2'])
    events.onAnswer(answerHead(200), bodyOf())
    events.onAnswerEnd()
    assert.deepEqual(world.happened.slice(2), ['release', 'lease any', 'send', 'respond 200', 'release', 'finish'])
    assert.deepEqual(world.events(), ['proxy.request success retried_after_401'])
  })

  for (const [what, outcome] of [
    ['the daemon has no other', resolution(1)],
    ['the daemon says nothing', new BrokerError('DaemonUnavailableError', 'away')],
  ] as const)
    it(`is answered with what was held where ${what}`, () => {
      const world = setUp()
      const events = world.send(1)
      events.onAnswer(answerHead(401), bodyOf())
      world.answer(outcome)
      events.onAnswerEnd()
      assert.deepEqual(world.happened.slice(2), ['respond 401', 'release', 'finish'])
      assert.deepEqual(world.events(), ['proxy.request failure undefined'])
    })

  it('is tried again once, and no more', () => {
    const world = setUp()
    world.send(1).onAnswer(answerHead(401), bodyOf())
    world.send(2).onAnswer(answerHead(401), bodyOf())
    assert.equal(world.happened.at(-1), 'respond 401')
    assert.equal(world.asked.length, 2)
  })

  it('is told to the daemon, and its answer not held, where the request has a body', () => {
    const world = setUp({}, POST)
    world.send(1).onAnswer(answerHead(401), bodyOf())
    assert.equal(world.happened.at(-1), 'respond 401')
    assert.equal(world.asked[1]?.question.rejected_version, 1)
  })
})

describe('a body that is signed', () => {
  const collects = (sha256: string): ResolveRequest => ({ ...QUESTION, sign: { payload: sha256, headers: [] } })
  const order = { signed: { question: QUESTION, collects } }
  const expecting = { ...POST, fields: [{ name: 'expect', value: '100-continue' }] }

  it('is collected before anything is asked', () => {
    const world = setUp(order, expecting)
    assert.deepEqual(world.happened, ['invite'])
    assert.equal(world.asked.length, 0)
    const collected = bodyOf({ bytes: 4 })
    world.collecting[0]?.onCollected(collected, 'hash')
    assert.equal(world.asked[0]?.question.sign?.payload, 'hash')
    const events = world.send()
    assert.equal(world.sent[0]?.body, collected)
    world.body.done = true
    events.onAnswer(answerHead(200), bodyOf())
    events.onAnswerEnd()
    assert.equal(world.audited[0]?.request?.bytes_out, 4)
  })

  it('is refused where it is too long', () => {
    const world = setUp(order, POST)
    world.collecting[0]?.onTooLong()
    assert.deepEqual(world.happened, ['refuse 413 body_too_long_to_sign'])
    assert.deepEqual(world.events(), ['proxy.denied denied body_too_long_to_sign'])
  })

  it('is refused where it breaks its grammar', () => {
    const world = setUp(order, POST)
    world.exchange.onRequestMalformed()
    assert.deepEqual(world.happened, ['refuse 400 malformed_body'])
    assert.deepEqual(world.events(), ['proxy.denied denied malformed_body'])
  })
})

describe('a stream that leaves HTTP', () => {
  const switched = () => {
    const world = setUp({}, requestHead({ upgrade: true }))
    const events = world.send()
    events.onSwitched(answerHead(101), bodyOf({ done: false }))
    return { world, events }
  }

  it('is told of at once, and left alone', () => {
    const { world, events } = switched()
    assert.equal(world.happened.at(-1), 'switch 101')
    assert.deepEqual(world.events(), ['proxy.request success undefined'])
    events.onLost(LOST)
    assert.deepEqual(world.happened.slice(-2), ['discard', 'abort upstream_abort undefined'])
    assert.equal(world.audited.length, 1)
  })

  it('is closed with the child', () => {
    const { world } = switched()
    world.exchange.onGone()
    assert.equal(world.happened.at(-1), 'discard')
    assert.equal(world.audited.length, 1)
  })
})

describe('a child that goes away', () => {
  it('before the daemon has answered has nothing sent for it', () => {
    const world = setUp()
    world.exchange.onGone()
    world.answer(resolution())
    assert.deepEqual(world.happened, [])
    assert.deepEqual(world.events(), [])
  })

  it('before there is a way to the service leaves that unused for others', () => {
    const world = setUp()
    world.answer(resolution())
    world.exchange.onGone()
    world.lease()
    assert.deepEqual(world.happened, ['lease any', 'release'])
    assert.deepEqual(world.events(), ['proxy.request failure client_abort'])
  })

  it('while its answer is held has the request not sent again', () => {
    const world = setUp()
    world.send(1).onAnswer(answerHead(401), bodyOf())
    world.exchange.onGone()
    world.answer(resolution(2))
    assert.deepEqual(world.happened, ['lease any', 'send', 'discard'])
    assert.deepEqual(world.events(), ['proxy.request failure client_abort'])
  })

  it('within its answer gives the request up', () => {
    const world = setUp()
    world.send().onAnswer(answerHead(200), bodyOf({ done: false }))
    world.exchange.onGone()
    assert.deepEqual(world.happened.slice(-2), ['respond 200', 'discard'])
    assert.deepEqual(world.events(), ['proxy.request success client_abort'])
    world.exchange.onGone()
    assert.equal(world.audited.length, 1)
  })
})
