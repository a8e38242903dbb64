import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cannotBecomeHead, Malformed } from './header-fields.ts'
import { type Http1RequestHead, parseRequestHead } from './request-head.ts'

function parsed(text: string): Http1RequestHead {
  const head = parseRequestHead(text)
  assert.ok(!(head instanceof Malformed), 'expected a well-formed head')
  return head
}

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`

test('a request head is read without changing anything of it', () => {
  const head = parsed(
    lines('POST /a%2F|b?c HTTP/1.1', 'host: x.test', 'X-A:1', 'x-a: caf\xe9 \t', 'Content-Length: 12'),
  )
  assert.equal(head.target, '/a%2F|b?c')
  assert.deepEqual(head.framing, { kind: 'length', length: 12 })
  assert.equal(
    head.fields.map(({ line }) => line).join(''),
    'host: x.test\r\nX-A:1\r\nx-a: caf\xe9 \t\r\nContent-Length: 12\r\n',
  )
})

test('the connection is kept by HTTP/1.1 unless it says close, and never by HTTP/1.0', () => {
  assert.equal(parsed(lines('GET / HTTP/1.1', 'Host: x')).keepAlive, true)
  assert.equal(parsed(lines('GET / HTTP/1.1', 'Host: x', 'Connection: foo, Close')).keepAlive, false)
  assert.equal(parsed(lines('GET / HTTP/1.0', 'Host: x', 'Connection: keep-alive')).keepAlive, false)
})

test('an upgrade is one where Connection names it, and never one to another HTTP', () => {
  const upgrade = (protocol: string) =>
    lines('GET / HTTP/1.1', 'Host: x', 'Connection: keep-alive, Upgrade', `Upgrade: ${protocol}`)
  assert.equal(parsed(upgrade('websocket')).upgrade, true)
  assert.equal(parsed(upgrade('h2c')).upgrade, false)
  assert.equal(parsed(upgrade('websocket, h2c')).upgrade, false)
  assert.equal(parsed(lines('GET / HTTP/1.1', 'Host: x', 'Upgrade: websocket')).upgrade, false)
})

const H = 'Host: x'
const REFUSED: readonly (readonly [string, string])[] = [
  ['a bare LF', 'GET / HTTP/1.1\nHost: x\r\n\r\n'],
  ['a bare CR in a value', lines('GET / HTTP/1.1', H, 'A: b\rc')],
  ['a NUL in a value', lines('GET / HTTP/1.1', H, 'A: b\0c')],
  ['a line folded onto the next', lines('GET / HTTP/1.1', H, 'A: b', ' c')],
  ['a folded first header', lines('GET / HTTP/1.1', ' Host: x')],
  ['a space before the colon', lines('GET / HTTP/1.1', H, 'A : b')],
  ['a header without a colon', lines('GET / HTTP/1.1', H, 'A')],
  ['a header without a name', lines('GET / HTTP/1.1', H, ': b')],
  ['a header name that is no token', lines('GET / HTTP/1.1', H, 'A(b): c')],
  ['a header name above ASCII', lines('GET / HTTP/1.1', H, 'caf\xe9: c')],
  ['no Host', lines('GET / HTTP/1.1', 'A: b')],
  ['HTTP/1.0 without Host', lines('GET / HTTP/1.0')],
  ['two Hosts', lines('GET / HTTP/1.1', H, 'host: y')],
  ['two equal Hosts', lines('GET / HTTP/1.1', H, H)],
  ['two Hosts in CONNECT', lines('CONNECT x:443 HTTP/1.1', H, 'host: y')],
  ['two equal Content-Lengths', lines('POST / HTTP/1.1', H, 'Content-Length: 1', 'Content-Length: 1')],
  ['two Content-Lengths in one', lines('POST / HTTP/1.1', H, 'Content-Length: 1, 1')],
  ['Content-Length +5', lines('POST / HTTP/1.1', H, 'Content-Length: +5')],
  ['Content-Length 0x5', lines('POST / HTTP/1.1', H, 'Content-Length: 0x5')],
  ['Content-Length -1', lines('POST / HTTP/1.1', H, 'Content-Length: -1')],
  ['Content-Length 5 5', lines('POST / HTTP/1.1', H, 'Content-Length: 5 5')],
  ['an empty Content-Length', lines('POST / HTTP/1.1', H, 'Content-Length:')],
  ['a Content-Length beyond counting', lines('POST / HTTP/1.1', H, 'Content-Length: 99999999999999999999')],
  ['an underscored Content_Length', lines('POST / HTTP/1.1', H, 'Content_Length: 5')],
  ['both framings', lines('POST / HTTP/1.1', H, 'Content-Length: 5', 'Transfer-Encoding: chunked')],
  ['both framings, the other way', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: chunked', 'Content-Length: 5')],
  ['identity, chunked', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: identity, chunked')],
  ['chunked, identity', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: chunked, identity')],
  ['xchunked', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: xchunked')],
  ['chunked with a vertical tab', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: chunked\x0b')],
  // One byte above ASCII, which only some readers take for a space.
  ['chunked with a no-break space', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: chunked\xa0')],
  ['a no-break space before chunked', lines('POST / HTTP/1.1', H, 'Transfer-Encoding:\xa0chunked')],
  ['a Content-Length with a no-break space', lines('POST / HTTP/1.1', H, 'Content-Length: 5\xa0')],
  ['gzip, chunked', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: gzip, chunked')],
  ['two Transfer-Encodings', lines('POST / HTTP/1.1', H, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
  ['an underscored Transfer_Encoding', lines('POST / HTTP/1.1', H, 'Transfer_Encoding: chunked')],
  ['chunked in HTTP/1.0', lines('POST / HTTP/1.0', H, 'Transfer-Encoding: chunked')],
  ['two spaces before the target', lines('GET  / HTTP/1.1', H)],
  ['a space in the target', lines('GET /a b HTTP/1.1', H)],
  ['a tab in the target', lines('GET /a\tb HTTP/1.1', H)],
  ['a fragment in the target', lines('GET /a#b HTTP/1.1', H)],
  ['no target', lines('GET HTTP/1.1', H)],
  ['HTTP/1.2', lines('GET / HTTP/1.2', H)],
  ['HTTP/2.0', lines('GET / HTTP/2.0', H)],
  ['http/1.1', lines('GET / http/1.1', H)],
  ['a request line with a space behind it', lines('GET / HTTP/1.1 ', H)],
  ['an empty line before it', `\r\n${lines('GET / HTTP/1.1', H)}`],
  ['a method that is no token', lines('G(T / HTTP/1.1', H)],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\n'],
]

for (const [what, text] of REFUSED) {
  test(`${what} is refused`, () => {
    assert.ok(parseRequestHead(text) instanceof Malformed)
  })
}

test('what is read is what is there: the accepted lines joined are the input', () => {
  const piece = fc.constantFrom(
    'GET / HTTP/1.1\r\n',
    'Host: x\r\n',
    'host:y\r\n',
    'A: b\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Connection: close\r\n',
    '\r\n',
    '\n',
    '\r',
    ' ',
    ':',
    'a',
    '\0',
    '\xff',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = `GET / HTTP/1.1\r\nHost: x\r\n${pieces.join('')}\r\n`
      const head = parseRequestHead(text)
      if (head instanceof Malformed) return
      assert.equal(`GET / HTTP/1.1\r\n${head.fields.map(({ line }) => line).join('')}\r\n`, text)
      assert.ok(isPlainHead(text))
    }),
    { numRuns: 5_000 },
  )
})

/** The grammar once more, by splitting and not by matching. */
function isPlainHead(text: string): boolean {
  const all = text.split('\r\n')
  if (all.pop() !== '' || all.pop() !== '' || all.some((line) => line === '' || /[\r\n\0]/.test(line))) return false
  const names = all.slice(1).map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
  const lengths = names.filter((name) => name === 'content-length' || name === 'transfer-encoding')
  return (
    lengths.length < 2 &&
    names.filter((name) => name === 'host').length === 1 &&
    names.every((n) => /^[a-z-]+$/.test(n))
  )
}

test('an incomplete head that can come to nothing is known at once', () => {
  assert.equal(cannotBecomeHead(Buffer.from('GET / HTTP/1.1\r\nHost: x\r')), false)
  assert.equal(cannotBecomeHead(Buffer.from('GET / HTTP/1.1\nHost: x')), true)
  assert.equal(cannotBecomeHead(Buffer.from('GET / HTTP/1.1\rHost: x')), true)
  assert.equal(cannotBecomeHead(Buffer.from('GET /\0')), true)
  assert.equal(cannotBecomeHead(Buffer.from('\n')), true)
})
