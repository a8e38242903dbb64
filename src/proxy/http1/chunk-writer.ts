import type { Field } from '../messages/index.ts'
import { lineOf } from './header-fields.ts'

const NOTHING = Buffer.alloc(0)
const LINE_END = Buffer.from('\r\n')

/** Puts data that came without chunks into one (RFC 9112 section 7.1); nothing stays nothing, since an empty chunk is the last. */
export function chunkOf(data: Buffer): Buffer {
  if (data.length === 0) return NOTHING
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, LINE_END])
}

/** The last chunk, with what was sent behind the data. */
export function lastChunk(trailers: readonly Field[] = []): Buffer {
  return Buffer.from(`0\r\n${trailers.map(lineOf).join('')}\r\n`, 'latin1')
}
