import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from './header-fields.ts'
import { type Http1ResponseHead, parseResponseHead, rewriteResponseHead } from './response-head.ts'

function parsed(text: string, method = 'GET'): Http1ResponseHead {
  const head = parseResponseHead(text, method)
  assert.ok(!(head instanceof Malformed), 'expected a well-formed head')
  return head
}

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`

const FRAMINGS: readonly (readonly [string, string, string, string])[] = [
  ['a length', 'GET', lines('HTTP/1.1 200 OK', 'Content-Length: 5'), 'length'],
  ['chunked', 'GET', lines('HTTP/1.1 200 OK', 'transfer-encoding: Chunked'), 'chunked'],
  ['neither', 'GET', lines('HTTP/1.1 200 OK'), 'until_close'],
  ['HEAD with a length', 'HEAD', lines('HTTP/1.1 200 OK', 'Content-Length: 5'), 'none'],
  ['204', 'GET', lines('HTTP/1.1 204 No Content'), 'none'],
  ['304 with a length', 'GET', lines('HTTP/1.1 304 Not Modified', 'Content-Length: 5'), 'none'],
  ['103', 'GET', lines('HTTP/1.1 103 Early Hints', 'Link: </a>'), 'none'],
  ['no reason phrase', 'GET', lines('HTTP/1.1 200', 'Content-Length: 5'), 'length'],
]

for (const [what, method, text, kind] of FRAMINGS) {
  test(`the body of an answer with ${what} is told by ${kind}`, () => {
    assert.equal(parsed(text, method).framing.kind, kind)
  })
}

const REFUSED = [
  lines('HTTP/1.1 20 OK', 'Content-Length: 5'),
  lines('HTTP/2 200', 'Content-Length: 5'),
  lines('HTTP/1.1 200 OK', 'Content-Length: 5', 'Content-Length: 6'),
  lines('HTTP/1.1 200 OK', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
  lines('HTTP/1.1 200 OK', 'Transfer-Encoding: gzip'),
  lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked\xa0'),
  lines('HTTP/1.1 200 OK', 'Content-Length: 5\xa0'),
  lines('HTTP/1.1 200 OK', 'A: b', ' folded'),
  'HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\n',
  'ICY 200 OK\r\n\r\n',
]

for (const text of REFUSED) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.ok(parseResponseHead(text, 'GET') instanceof Malformed)
  })
}

test('an answer that needs no change is not rewritten', () => {
  const head = parsed(lines('HTTP/1.1 200 OK', 'Set-Cookie: a', 'set-cookie: b', 'Content-Length: 0'))
  assert.equal(rewriteResponseHead(head, 'keep'), undefined)
})

test('what concerns the upstream leg is dropped, and Alt-Svc, and what would pass for an answer of the proxy', () => {
  const head = parsed(
    lines(
      'HTTP/1.1 200 OK',
      'A: 1',
      'Connection: close, X-Hop, content-length',
      'Keep-Alive: timeout=5',
      'x-hop: 1',
      'Alt-Svc: h3=":443"',
      'Proxy-Authenticate: Basic',
      'x-broker-error: OperationNotAllowedError',
      'Content-Length: 0',
      'B: 2',
    ),
  )
  assert.equal(rewriteResponseHead(head, 'keep'), lines('HTTP/1.1 200 OK', 'A: 1', 'Content-Length: 0', 'B: 2'))
  assert.equal(
    rewriteResponseHead(head, 'close'),
    lines('HTTP/1.1 200 OK', 'A: 1', 'Content-Length: 0', 'B: 2', 'Connection: close'),
  )
})

test('the answer to an upgrade keeps its Connection and Upgrade', () => {
  const head = parsed(lines('HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'))
  assert.equal(rewriteResponseHead(head, 'keep'), undefined)
})
