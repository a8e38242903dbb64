import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineEditor } from './line-editor.ts'

function typed(text: string): LineEditor {
  const line = new LineEditor()
  for (const character of text) line.press(character, { sequence: character })
  return line
}

function press(line: LineEditor, ...names: readonly string[]): LineEditor {
  for (const name of names) {
    const [key = '', ctrl] = name.split('-').toReversed()
    line.press(undefined, { name: key, ctrl: ctrl === 'ctrl' })
  }
  return line
}

for (const [what, line, text] of [
  ['is what was typed', typed('äöü 漢字'), 'äöü 漢字'],
  ['loses the last character', press(typed('abc'), 'backspace'), 'ab'],
  ['loses the character under the cursor', press(typed('abc'), 'home', 'delete'), 'bc'],
  ['keeps what is left of the cursor', press(typed('abc'), 'left', 'ctrl-k'), 'ab'],
  ['keeps what is right of the cursor', press(typed('abc'), 'left', 'ctrl-u'), 'c'],
  ['loses a word', press(typed('ab cd '), 'ctrl-w'), 'ab '],
  ['loses nothing at its start', press(typed('ab'), 'home', 'left', 'backspace', 'right', 'end', 'right'), 'ab'],
  ['takes no control characters', typed('a\u0001\u001bb\u009b'), 'ab'],
] as const) {
  test(`a line ${what}`, () => assert.equal(line.text, text))
}

test('the end of input ends an empty line, and takes a character from another', () => {
  const end = (line: LineEditor) => line.press('\u0004', { name: 'd', ctrl: true })
  assert.equal(end(typed('')), 'ended')
  const line = press(typed('ab'), 'home')
  assert.equal(end(line), 'changed')
  assert.equal(line.text, 'b')
})

test('a paste is text: its line ends do not enter it', () => {
  const line = new LineEditor()
  line.press(undefined, { name: 'paste-start' })
  for (const character of 'a\r\nb\u0003c\r\n') assert.equal(line.press(character, { name: 'return' }), 'ignored')
  assert.equal(line.press(undefined, { name: 'paste-end' }), 'changed')
  assert.equal(line.text, 'a bc')
})

test('as much as fits is shown around the cursor, by cells', () => {
  assert.deepEqual(typed('abcdef').window(4), { shown: 'def', beforeCursor: 'def' })
  assert.deepEqual(press(typed('abcdef'), 'home').window(4), { shown: 'abc', beforeCursor: '' })
  assert.deepEqual(press(typed('abcdef'), 'left').window(10), { shown: 'abcdef', beforeCursor: 'abcde' })
  assert.deepEqual(typed('漢字漢字').window(6), { shown: '漢字', beforeCursor: '漢字' })
  assert.deepEqual(typed('漢字漢字').window(6, '*'), { shown: '****', beforeCursor: '****' })
})

test('64 KiB are typed in a moment', () => {
  const line = typed('x'.repeat(65_536))
  press(line, 'home', 'end')
  assert.equal(line.text.length, 65_536)
})
