import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AwsChunkedBody } from './aws-chunked-body.ts'
import { DecodedBody } from './http1/decoded-body.ts'
import type { BodyFraming } from './messages/index.ts'

const SIGNATURE = `;chunk-signature=${'0'.repeat(64)}`
const CHUNKS = `4${SIGNATURE}\r\nfour\r\n5${SIGNATURE}\r\nfive5\r\n0${SIGNATURE}\r\nx-amz-checksum-crc32:AAAA\r\n\r\n`
const NEXT = 'GET / HTTP/1.1\r\n'

function framed(chunks: string): string {
  const at = 7
  const [first, second] = [chunks.slice(0, at), chunks.slice(at)]
  return `${first.length.toString(16)}\r\n${first}\r\n${second.length.toString(16)};x=y\r\n${second}\r\n0\r\nA: b\r\n\r\n`
}

/** Reads in pieces of this size; what came out, where it ended, and whether it was well-formed. */
function read(text: string, size: number, framing: BodyFraming, length: number) {
  const body = new DecodedBody(framing, new AwsChunkedBody(length))
  const bytes = Buffer.from(text)
  let [data, at] = ['', 0]
  while (at < bytes.length && !body.done && !body.malformed) {
    const piece = bytes.subarray(at, at + size)
    const taken = body.read(piece, 0)
    assert.equal(body.passEnd, 0)
    data += body.replacement?.toString() ?? ''
    at += taken
    if (taken < piece.length) break
  }
  return { data, at, ok: body.done && !body.malformed }
}

describe('a body in signed chunks', () => {
  for (const size of [1, 2, 3, 7, 64, 1_000]) {
    it(`is the same however it arrives: with a length, ${size} bytes at once`, () => {
      const framing = { kind: 'length', length: CHUNKS.length } as const
      assert.deepEqual(read(CHUNKS + NEXT, size, framing, 9), { data: 'fourfive5', at: CHUNKS.length, ok: true })
    })

    it(`is the same however it arrives: chunked, ${size} bytes at once`, () => {
      const text = framed(CHUNKS)
      assert.deepEqual(read(text + NEXT, size, { kind: 'chunked' }, 9), {
        data: 'fourfive5',
        at: text.length,
        ok: true,
      })
    })

    for (const broken of [
      CHUNKS.replace('\r\n5', '\n5'),
      CHUNKS.replace('four', 'fourX'),
      CHUNKS.replace('0;', '123456789;'),
      `${CHUNKS}x`,
      CHUNKS.slice(0, -2),
    ])
      it(`does not end well: ${JSON.stringify(broken.replaceAll('0'.repeat(64), '…'))}, ${size} bytes at once`, () => {
        assert.equal(read(broken, size, { kind: 'length', length: broken.length }, 9).ok, false)
        assert.equal(read(framed(broken), size, { kind: 'chunked' }, 9).ok, false)
      })
  }
})
