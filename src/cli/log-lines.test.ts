import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lastLines, linesAfter } from './log-lines.ts'

test('the last lines of a large file come in their order', (t) => {
  const path = file(t, Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join(''))

  assert.deepEqual(lastLines(path, 2).lines, ['line 19998', 'line 19999'])
  assert.equal(lastLines(path, 30_000).lines.length, 20_000)
})

test('what is added later is told once, a half line when it is whole', (t) => {
  const path = file(t, 'one\n')
  const { end } = lastLines(path, 1)
  appendFileSync(path, 'two\nth')
  const second = linesAfter(path, end)
  appendFileSync(path, 'ree\n')

  assert.deepEqual(second.lines, ['two'])
  assert.deepEqual(linesAfter(path, second.end).lines, ['three'])
})

test('a file that was rotated is read from its beginning', (t) => {
  const path = file(t, 'a long line of before\n')
  const { end } = lastLines(path, 1)
  writeFileSync(path, 'new\n')

  assert.deepEqual(linesAfter(path, end).lines, ['new'])
})

test('a file that is not there has no lines', () => {
  assert.deepEqual(lastLines('/nowhere/CNRY.log', 5).lines, [])
})

function file(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'daemon.log')
  writeFileSync(path, text)
  return path
}
