import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { FrameEdit } from './frame-edit.ts'

const KEY = 'CNRY-token'
const IDENTIFY = '{"op":2,"d":{"token":"broker-proxy-managed","intents":1}}'
const IDENTIFIED = IDENTIFY.replace('broker-proxy-managed', KEY)

function frame(opcode: number, payload: string, more: { fin?: boolean; masked?: boolean; rsv?: number } = {}): Buffer {
  const { fin = true, masked = true, rsv = 0 } = more
  const bytes = Buffer.from(payload)
  const mask = masked ? Buffer.from([9, 8, 7, 6]) : Buffer.alloc(0)
  const length = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 0xff]
  const head = Buffer.from([
    (fin ? 0x80 : 0) | rsv | opcode,
    (masked ? 0x80 : 0) | (length[0] ?? 0),
    ...length.slice(1),
  ])
  return Buffer.concat([head, mask, masked ? bytes.map((byte, at) => byte ^ (mask[at % 4] ?? 0)) : bytes])
}

function through(edit: FrameEdit, bytes: Buffer, cuts: readonly number[] = []): Buffer | 'refused' {
  const edges = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
  const parts: Buffer[] = []
  let from = 0
  for (const edge of [...edges, bytes.length]) {
    edit.read(bytes.subarray(from, edge), (part) => parts.push(part))
    from = edge
  }
  return edit.malformed ? 'refused' : Buffer.concat(parts)
}

const [TEXT, BINARY, PING] = [1, 2, 9]
const all = (...frames: readonly Buffer[]) => Buffer.concat(frames)
const long = `{"pad":"${'p'.repeat(300)}","d":{"token":"x"}}`

const CASES: readonly (readonly [string, number, Buffer, Buffer | 'refused'])[] = [
  [
    'the first text message',
    1,
    all(frame(TEXT, IDENTIFY), frame(TEXT, IDENTIFY)),
    all(frame(TEXT, IDENTIFIED), frame(TEXT, IDENTIFY)),
  ],
  [
    'one in fragments, with a ping among them',
    1,
    all(frame(TEXT, IDENTIFY.slice(0, 20), { fin: false }), frame(PING, 'p'), frame(0, IDENTIFY.slice(20))),
    all(frame(PING, 'p'), frame(TEXT, IDENTIFIED)),
  ],
  [
    'the first so many, and no binary one',
    2,
    all(frame(TEXT, '{"op":1,"d":null}'), frame(BINARY, IDENTIFY), frame(TEXT, IDENTIFY), frame(TEXT, IDENTIFY)),
    all(frame(TEXT, '{"op":1,"d":null}'), frame(BINARY, IDENTIFY), frame(TEXT, IDENTIFIED), frame(TEXT, IDENTIFY)),
  ],
  ['a long one', 1, frame(TEXT, long), frame(TEXT, long.replace('"x"', `"${KEY}"`))],
  ['none that is compressed', 1, frame(TEXT, IDENTIFY, { rsv: 0x40 }), 'refused'],
  ['none without a mask', 1, frame(TEXT, IDENTIFY, { masked: false }), 'refused'],
  ['none where the place is there twice', 1, frame(TEXT, '{"d":{"token":"a","token":"b"}}'), 'refused'],
]

describe('an edit of frames', () => {
  for (const [what, messages, sent, received] of CASES) {
    it(`opens ${what}, however it is cut`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat(1_000), { maxLength: 6 }), (cuts) => {
          assert.deepEqual(through(new FrameEdit(new Map([['/d/token', KEY]]), messages), sent, cuts), received)
        }),
      )
    })
  }

  it('holds no more than a mebibyte', () => {
    const head = Buffer.alloc(14)
    head[0] = 0x81
    head[1] = 0xff
    head.writeBigUInt64BE(2_000_000n, 2)
    assert.equal(through(new FrameEdit(new Map([['/d/token', KEY]]), 1), head), 'refused')
  })
})
