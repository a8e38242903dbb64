import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../protocol/index.ts'
import { askForKeyFile } from './key-file.ts'
import type { Terminal } from './terminal.ts'

/** Somebody who types these answers, one after the other, and then leaves the question out. */
function typing(answers: readonly string[]): Terminal {
  const left = [...answers]
  return {
    canAsk: true,
    input: process.stdin,
    confirm: async () => true,
    ask: async () => {
      const answer = left.shift()
      return answer === undefined ? undefined : new Secret(answer)
    },
    spin: () => ({ update: () => undefined, stop: () => undefined }),
  }
}

test('a key file is asked for until there is one that can be read, and its text is taken as it is', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'broker-key-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'key.pem')
  writeFileSync(path, '-----BEGIN CNRY-----\nCNRY\n')
  const notices: string[] = []
  const question = {
    text: 'Private key',
    isRequired: true,
    signal: new AbortController().signal,
    notice: (text: string) => void notices.push(text),
  }

  const terminal = typing([join(folder, 'none'), folder, path])
  assert.equal((await askForKeyFile({ ...question, terminal }))?.reveal(), '-----BEGIN CNRY-----\nCNRY\n')
  assert.deepEqual(notices, ['It cannot be used: there is no such file', 'It cannot be used: it is no regular file'])
  assert.equal(await askForKeyFile({ ...question, terminal: typing([]) }), undefined)
})
