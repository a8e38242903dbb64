import { answerOf, type OwnAnswer, type Refusal } from '../messages/index.ts'
import { lineOf } from './header-fields.ts'

// Not from `node:http`: that alone would double the start and bring 20 MB.
const REASON_PHRASES: Readonly<Record<OwnAnswer['status'], string>> = {
  200: 'OK',
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

export type AfterAnswer = 'keep' | 'close'

/** The whole answer as bytes; without its body in answer to HEAD. */
export function answerBytes({ status, fields, content }: OwnAnswer, method: string, after: AfterAnswer): Buffer {
  const head =
    `HTTP/1.1 ${status} ${REASON_PHRASES[status]}\r\n${fields.map(lineOf).join('')}` +
    `Content-Length: ${Buffer.byteLength(content)}\r\n${after === 'close' ? 'Connection: close\r\n' : ''}\r\n`
  return Buffer.from(method === 'HEAD' ? head : head + content)
}

/** A refusal as the last bytes on a connection that no request was read from. */
export function lastRefusal(refusal: Refusal): Buffer {
  return answerBytes(answerOf(refusal), '', 'close')
}
