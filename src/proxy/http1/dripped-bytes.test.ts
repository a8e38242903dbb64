import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connectAnswer } from '../open-socket.ts'
import { BodyFramer } from './body-framing.ts'
import { ChildConnection } from './child-connection.ts'
import { UpstreamRequest } from './upstream-request.ts'

/** Each takes bytes one at a time, as a sender lets them drip. */
const READERS: readonly {
  readonly what: string
  readonly begin: string
  readonly reader: () => (byte: Buffer) => void
}[] = [
  { what: 'the head of a request', begin: 'GET / HTTP/1.1\r\nHost: x\r\nA: ', reader: requestReader },
  { what: 'the head of an answer', begin: 'HTTP/1.1 200 OK\r\nA: ', reader: answerReader },
  { what: 'the trailers of a body', begin: '0\r\nA: ', reader: trailerReader },
  { what: "the answer of a company's proxy", begin: 'HTTP/1.1 200 OK\r\nA: ', reader: connectReader },
]

for (const { what, begin, reader } of READERS) {
  test(`${what} that drips costs no more for a byte than any other`, (t) => {
    const short = workFor(t, reader(), begin + 'a'.repeat(4_000))
    const long = workFor(t, reader(), begin + 'a'.repeat(40_000))

    assert.ok(long < 20 * short, `${short} for 4,000 bytes, ${long} for 40,000`)
  })
}

/** Bytes that were searched, copied and decoded. */
function workFor(t: TestContext, take: (byte: Buffer) => void, text: string): number {
  let work = 0
  const { concat } = Buffer
  const mocks = [
    t.mock.method(Buffer, 'concat', (parts: readonly Buffer[], length?: number) => {
      const joined = concat(parts, length)
      work += joined.length
      return joined
    }),
    ...(['indexOf', 'includes', 'copy', 'toString'] as const).map((name) => {
      const original = Buffer.prototype[name] as (this: Buffer, ...args: unknown[]) => unknown
      return t.mock.method(Buffer.prototype, name, function (this: Buffer, ...args: unknown[]) {
        const [from, to] = name === 'toString' ? [args[1], args[2]] : [name === 'copy' ? 0 : args[1], undefined]
        work += Math.min(Number(to ?? this.length), this.length) - Number(from ?? 0)
        return original.apply(this, args)
      })
    }),
  ]
  for (const byte of Buffer.from(text)) take(Buffer.of(byte))
  for (const { mock } of mocks) mock.restore()
  return work
}

function requestReader() {
  const socket = new Socket()
  new ChildConnection({
    socket,
    transport: socket,
    open: new Set(),
    isHalfClosed: () => false,
    onRequest: () => assert.fail('no request'),
    onMalformed: ({ message }) => assert.fail(message),
  })
  return (byte: Buffer) => void socket.emit('data', byte)
}

function answerReader() {
  const request = new UpstreamRequest({ socket: new Socket(), reused: false, keep() {}, discard() {} })
  return (byte: Buffer) => request.onData(byte)
}

function trailerReader() {
  const framer = new BodyFramer({ kind: 'chunked' }, new Set())
  return (byte: Buffer) => {
    framer.read(byte, 0)
    assert.equal(framer.malformed, false)
  }
}

function connectReader() {
  const socket = new Socket()
  connectAnswer(socket, new AbortController().signal).catch(() => assert.fail('no answer yet'))
  return (byte: Buffer) => void socket.emit('data', byte)
}
