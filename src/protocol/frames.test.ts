import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { encodeFrame, FrameReader } from './frames.ts'

suite('frames of a channel', () => {
  const frames = Buffer.concat([
    encodeFrame('question', 1, { host: 'api.acme.test', path: '/ü' }),
    encodeFrame('beat', 0),
    encodeFrame('events', 4_294_967_295, { events: ['x'.repeat(70_000)] }),
  ])

  for (const size of [1, 2, 8, 9, 10, 4096, frames.length]) {
    test(`are read as they were written, ${size} bytes at a time`, () => {
      const reader = new FrameReader()
      const read: unknown[] = []
      for (let at = 0; at < frames.length; at += size) {
        for (const { kind, number, body } of reader.read(frames.subarray(at, at + size))) {
          read.push([kind, number, body.length === 0 ? undefined : JSON.parse(body.toString())])
        }
      }
      assert.deepEqual(read, [
        ['question', 1, { host: 'api.acme.test', path: '/ü' }],
        ['beat', 0, undefined],
        ['events', 4_294_967_295, { events: ['x'.repeat(70_000)] }],
      ])
    })
  }

  test('that are none, or too long, end the reading', () => {
    const unknown = encodeFrame('beat', 0)
    unknown.writeUInt8(99, 4)
    assert.throws(() => [...new FrameReader().read(unknown)], RangeError)
    const long = encodeFrame('question', 0)
    long.writeUInt32BE(0xffffffff, 0)
    assert.throws(() => [...new FrameReader().read(long)], RangeError)
    const reader = new FrameReader()
    assert.throws(() => [...long].flatMap((byte) => [...reader.read(Buffer.of(byte))]), RangeError)
  })
})
