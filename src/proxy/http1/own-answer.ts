import type { Refusal, RefusalStatus } from '../messages/index.ts'

// Not from `node:http`: that alone would double the start and bring 20 MB.
const REASON_PHRASES: Readonly<Record<RefusalStatus, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  405: 'Method Not Allowed',
  407: 'Proxy Authentication Required',
  411: 'Length Required',
  413: 'Content Too Large',
  421: 'Misdirected Request',
  431: 'Request Header Fields Too Large',
  502: 'Bad Gateway',
}

export type AfterRefusal = 'keep' | 'close'

const CHALLENGE = 'Proxy-Authenticate: Basic realm="broker"\r\n'

/** The whole answer as bytes; without its body in answer to HEAD. */
export function refusalAnswer(refusal: Refusal, method: string, after: AfterRefusal): Buffer {
  const { status, error, message, hint, reason, retryAfter } = refusal
  const body = JSON.stringify({ error, message, hint, reason })
  const head =
    `HTTP/1.1 ${status} ${REASON_PHRASES[status]}\r\n` +
    'Content-Type: application/json\r\n' +
    `Content-Length: ${Buffer.byteLength(body)}\r\n` +
    'Cache-Control: no-store\r\n' +
    `X-Broker-Error: ${error}\r\n` +
    (status === 407 ? CHALLENGE : '') +
    (retryAfter === undefined ? '' : `Retry-After: ${Math.ceil(retryAfter)}\r\n`) +
    (after === 'close' ? 'Connection: close\r\n' : '') +
    '\r\n'
  return Buffer.from(method === 'HEAD' ? head : head + body)
}

/** What the proxy says of itself, on a connection that ends with it. */
export function jsonAnswer(body: string): Buffer {
  return Buffer.from(
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nConnection: close\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
