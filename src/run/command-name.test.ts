import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandName } from './command-name.ts'

test('a variable set in place of a command is told by its name alone', () => {
  assert.equal(commandName('OPENAI_API_KEY=sk-CNRYabc\ndef'), 'OPENAI_API_KEY=…')
})

test('a command is told as it is', () => {
  for (const file of ['node', './a=b/tool', '/usr/bin/env', 'x=']) assert.equal(commandName(file), file)
})
