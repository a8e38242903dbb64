import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { readPipedFields, readPipedSecret } from './piped-secret.ts'

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

test('a file is taken as it is', async () => {
  const pem = '-----BEGIN CNRY-----\nCNRY\n-----END CNRY-----\n'
  assert.equal((await readPipedSecret(Readable.from([Buffer.from(pem)]), 'file')).reveal(), pem)
})

test('several values are an object of texts', async () => {
  const values = await readPipedFields(Readable.from([Buffer.from('{"id":"a","token":"CNRY"}\n')]), 'Pipe it in')
  assert.deepEqual(
    Object.entries(values).map(([name, value]) => [name, value.reveal()]),
    [
      ['id', 'a'],
      ['token', 'CNRY'],
    ],
  )
})

for (const text of ['CNRY', '"CNRY"', '["CNRY"]', '{}', '{"id":{"CNRY":1}}', '{"id":"CNRY","id":"CNRY2"}'])
  test(`${text} in place of several values is refused without repeating it`, async () => {
    await assert.rejects(readPipedFields(Readable.from([Buffer.from(text)]), 'Pipe it in'), (error: Error) => {
      assert.equal(error.name, 'InvalidRequestError')
      assert.doesNotMatch(`${error.message}${JSON.stringify(error)}`, /CNRY/)
      return true
    })
  })
