import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { readPipedSecret } from './piped-secret.ts'

test('one line is taken without its line end', async () => {
  assert.equal(
    (await readPipedSecret(Readable.from([Buffer.from('sk-CN'), Buffer.from('RY1\r\n')]))).reveal(),
    'sk-CNRY1',
  )
})

for (const [what, bytes] of [
  ['nothing', ''],
  ['two lines', 'CNRY1\nCNRY2\n'],
  ['more than 64 KiB', 'CNRY'.repeat(17_000)],
  ['what is no text', Buffer.from([0xff, 0xfe])],
] as const) {
  test(`${what} is refused without repeating it`, async () => {
    await assert.rejects(readPipedSecret(Readable.from([Buffer.from(bytes)])), (error: Error) => {
      assert.equal(error.name, 'InvalidRequestError')
      assert.doesNotMatch(error.message, /CNRY/)
      return true
    })
  })
}
