import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommanderError } from 'commander'
import { usageError } from './usage-error.ts'

const SECRET = 'sk-CNRYabcdef'

test('a value that was typed where none is taken is not repeated', () => {
  for (const message of [
    `error: unknown option '--api-key=${SECRET}'`,
    `error: unknown option '--${SECRET}'`,
    `error: unknown option '-${SECRET}'`,
    `error: command-argument value '${SECRET}' is invalid for argument 'shell'. Allowed choices are bash, zsh.`,
    `error: option '--flow <type>' argument '${SECRET}' is invalid. Allowed choices are pkce, api_key.`,
    `error: too many arguments for 'login'. Expected 1 argument but got 2: openai, ${SECRET}.`,
  ]) {
    const { message: told, options } = usageError(new CommanderError(1, 'commander.unknownOption', message))

    assert.doesNotMatch(`${told} ${options.hint}`, /CNRY/)
  }
})

test('an option that is mistyped is named', () => {
  const { message } = usageError(new CommanderError(1, 'commander.unknownOption', "error: unknown option '--focre'"))

  assert.equal(message, "Unknown option '--focre'")
})
