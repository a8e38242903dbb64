import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printable, printableJson } from './printable.ts'

test('text that would set the clipboard, retitle the terminal or overwrite the line is shown as text', () => {
  const hostile = '\u001b]52;c;Q05SWQ==\u0007\u001b]8;;https://evil.test\u001b\\ok\r\u001b[2Kfine\u009b31m\u202Eexe.gpj'

  assert.doesNotMatch(printable(hostile), /[\u0000-\u001f\u007f-\u009f\u202e]/)
  assert.match(printable(hostile), /^\\u001b\]52;c;/)
})

test('a line break becomes a space, so that one record stays one line', () => {
  assert.equal(printable('one\ntwo'), 'one two')
})

test('a JSON document keeps its values and has no control characters', () => {
  const value = { name: '\u001b[31m\u009b\u202E' }

  assert.deepEqual(JSON.parse(printableJson(value)), value)
  assert.doesNotMatch(printableJson(value).replaceAll('\n', ''), /[\u0000-\u001f\u007f-\u009f\u202e]/)
})
