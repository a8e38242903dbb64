import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BodyFraming } from '../messages/index.ts'
import { BodyFramer } from './body-framing.ts'

const CREDENTIALS = new Set(['authorization', 'x-api-key'])
const CHUNKED: BodyFraming = { kind: 'chunked' }

interface Reading {
  readonly sent: string
  readonly left: string
  readonly state: 'done' | 'open' | 'malformed'
}

/** Reads `text` in pieces that end at `cuts`. */
function readInPieces(framing: BodyFraming, text: string, cuts: readonly number[] = []): Reading {
  const framer = new BodyFramer(framing, CREDENTIALS)
  const edges = [0, ...cuts.filter((cut) => cut > 0 && cut < text.length).sort((a, b) => a - b), text.length]
  let sent = ''
  let used = 0
  for (const [index, edge] of edges.slice(1).entries()) {
    const start = edges[index] ?? 0
    const piece = Buffer.from(text.slice(start, edge), 'latin1')
    const taken = framer.read(piece, 0)
    if (framer.malformed) return { sent: '', left: '', state: 'malformed' }
    sent += piece.toString('latin1', 0, framer.passEnd) + (framer.replacement?.toString('latin1') ?? '')
    used += taken
    if (framer.done) break
  }
  return { sent, left: text.slice(used), state: framer.done ? 'done' : 'open' }
}

test('a body by length ends where it says', () => {
  assert.deepEqual(readInPieces({ kind: 'length', length: 3 }, 'abcGET'), { sent: 'abc', left: 'GET', state: 'done' })
  assert.deepEqual(readInPieces({ kind: 'length', length: 5 }, 'abc'), { sent: 'abc', left: '', state: 'open' })
  assert.deepEqual(readInPieces({ kind: 'length', length: 0 }, 'GET'), { sent: '', left: 'GET', state: 'done' })
  assert.deepEqual(readInPieces({ kind: 'none' }, 'GET'), { sent: '', left: 'GET', state: 'done' })
})

test('a body until the close ends with it', () => {
  const framer = new BodyFramer({ kind: 'until_close' }, CREDENTIALS)
  assert.equal(framer.read(Buffer.from('abc'), 0), 3)
  assert.equal(framer.done, false)
  framer.close()
  assert.equal(framer.done, true)
})

test('chunks pass undecoded, with trailers', () => {
  const body = '5\r\nhello\r\n00A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nx-two: 2\r\n\r\n'
  assert.deepEqual(readInPieces(CHUNKED, `${body}GET`), { sent: body, left: 'GET', state: 'done' })
})

test('a chunk extension goes no further, and every other byte passes', () => {
  const body = '5;a="b c"\r\nhel;o\r\n00A\r\n0123456789\r\n1;\r\n;\r\n0;x;y=z\r\nX-Sum: 1;2\r\nCookie: x\r\n\r\n'
  const sent = '5\r\nhel;o\r\n00A\r\n0123456789\r\n1\r\n;\r\n0\r\nX-Sum: 1;2\r\n\r\n'
  const everywhere = Array.from(body, (_, at) => at)

  for (const cuts of [[], [1], [2], [10], everywhere]) {
    assert.deepEqual(readInPieces(CHUNKED, `${body}GET`, cuts), { sent, left: 'GET', state: 'done' })
  }
})

test('a trailer named like a credential or like framing is dropped', () => {
  const trailers =
    'Authorization: CNRYx\r\nX_Api_Key: CNRYx\r\nContent-Length: 5\r\nProxy-Authorization: x\r\nX-Sum: 1\r\n'
  assert.equal(readInPieces(CHUNKED, `0\r\n${trailers}\r\n`).sent, '0\r\nX-Sum: 1\r\n\r\n')
})

const MALFORMED = [
  '\r\n',
  'g\r\n',
  ' 5\r\nhello\r\n0\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '+5\r\nhello\r\n0\r\n\r\n',
  '-1\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  '5\nhello\r\n0\r\n\r\n',
  '5;a\nb\r\nhello\r\n0\r\n\r\n',
  '5;a\rb\r\nhello\r\n0\r\n\r\n',
  '5;\0\r\nhello\r\n0\r\n\r\n',
  '5\r\nhelloX\r\n0\r\n\r\n',
  '5\r\nhello\n0\r\n\r\n',
  '5\r\nhello\r\r\n0\r\n\r\n',
  '123456789\r\n',
  `5;${'a'.repeat(1100)}\r\nhello\r\n0\r\n\r\n`,
  '0\r\nX: a\nb\r\n\r\n',
  '0\r\n X: a\r\n\r\n',
  '0\r\nX : a\r\n\r\n',
  '0\r\n\nX',
]

for (const text of MALFORMED) {
  test(`${JSON.stringify(text.slice(0, 40))} is no chunked body`, () => {
    assert.equal(readInPieces(CHUNKED, text).state, 'malformed')
    const everywhere = Array.from(text, (_, at) => at)
    assert.equal(readInPieces(CHUNKED, text, everywhere).state, 'malformed')
  })
}

const piece = fc.constantFrom(
  '5\r\nhello\r\n',
  '1;x\r\n!\r\n',
  '0\r\n',
  '\r\n',
  'X-Sum: 1\r\n',
  'authorization: x\r\n',
  '\n',
  '\r',
  'a',
  ';',
  '00',
  'f',
)
const bodyText = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''))

test('however a body is split, the same bytes go out and the same verdict falls', () => {
  fc.assert(
    fc.property(bodyText, fc.array(fc.nat(60), { maxLength: 12 }), (text, cuts) => {
      const whole = readInPieces(CHUNKED, text)
      const split = readInPieces(CHUNKED, text, cuts)
      assert.equal(split.state, whole.state)
      if (whole.state === 'done') assert.deepEqual(split, whole)
    }),
    { numRuns: 5_000 },
  )
})

test('a body that is done is one by a plain decoder too', () => {
  fc.assert(
    fc.property(bodyText, (text) => {
      const { state, left } = readInPieces(CHUNKED, text)
      assert.equal(state === 'done' ? left : undefined, decode(text))
    }),
    { numRuns: 5_000 },
  )
})

/** What is left behind a well-formed chunked body at the start of `text`; undefined where there is none. */
function decode(text: string): string | undefined {
  let rest = text
  for (;;) {
    const line = /^([0-9a-f]{1,8})(?:;[^\r\n]*)?\r\n/i.exec(rest)
    if (line === null) return undefined
    const size = Number.parseInt(line[1] ?? '', 16)
    rest = rest.slice(line[0].length)
    if (size === 0) return /^(?:[a-z0-9-]+:[^\r\n]*\r\n)*\r\n([\s\S]*)$/i.exec(rest)?.[1]
    if (rest.length < size + 2 || rest.slice(size, size + 2) !== '\r\n') return undefined
    rest = rest.slice(size + 2)
  }
}
