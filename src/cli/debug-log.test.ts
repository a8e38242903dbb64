import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Secret } from '../protocol/index.ts'
import { openDebugLog } from './debug-log.ts'

test('an event is one line of JSON that only its owner can read', (t) => {
  const path = join(folder(t), 'logs', 'broker.log')
  const log = openDebugLog({ path, isDefault: true, now: () => new Date('2026-11-21T09:30:00.000Z') })

  log.write({ event: 'command', name: 'whoami', key: new Secret('CNRYkey') })

  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), {
    time: '2026-11-21T09:30:00.000Z',
    pid: process.pid,
    event: 'command',
    name: 'whoami',
    key: '[redacted]',
  })
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a file that others may read is closed to them', (t) => {
  const path = join(folder(t), 'broker.log')
  writeFileSync(path, '', { mode: 0o644 })

  openDebugLog({ path, isDefault: false }).write({ event: 'x' })

  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a link is not followed, neither symbolic nor hard', (t) => {
  const root = folder(t)
  const target = join(root, 'precious')
  writeFileSync(target, 'precious')
  symlinkSync(target, join(root, 'symbolic'))
  linkSync(target, join(root, 'hard'))

  for (const name of ['symbolic', 'hard']) {
    const log = openDebugLog({ path: join(root, name), isDefault: false })
    assert.throws(() => log.write({ event: 'x' }), { name: 'OperationNotAllowedError' })
  }
  assert.equal(readFileSync(target, 'utf8'), 'precious')
})

test('a full log is put aside', (t) => {
  const path = join(folder(t), 'broker.log')
  writeFileSync(path, 'x'.repeat(1024 * 1024))

  openDebugLog({ path, isDefault: false }).write({ event: 'next' })

  assert.equal(statSync(`${path}.1`).size, 1024 * 1024)
  assert.match(readFileSync(path, 'utf8'), /"event": "next"/)
})

test('a disk that fills up costs lines and ends nothing', (t) => {
  const path = join(folder(t), 'broker.log')

  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -f 1 && exec "$0" --input-type=module -e "$1" "$2"', process.execPath, WRITE_MANY, path],
    { encoding: 'utf8' },
  )

  assert.deepEqual([status, stderr], [0, ''])
  const lines = readFileSync(path, 'utf8').split('\n')
  assert.match(lines[0] ?? '', /"event": "line"/)
  assert.match(lines.at(-2) ?? '', /"event": "there is room again"/)
})

test('a log that cannot be opened again costs lines and ends nothing', (t) => {
  const root = folder(t)
  const path = join(root, 'logs', 'broker.log')
  mkdirSync(join(root, 'logs'))
  const log = openDebugLog({ path, isDefault: false })
  log.write({ event: 'first' })
  rmSync(join(root, 'logs'), { recursive: true })

  for (let line = 0; line < 3; line += 1) log.write({ event: 'x'.repeat(1024 * 1024) })
  mkdirSync(join(root, 'logs'))
  log.write({ event: 'there again' })

  assert.match(readFileSync(path, 'utf8'), /"event": "there again"/)
})

test('without a path nothing is written, and verbose lines are shown all the same', () => {
  const shown: string[] = []

  openDebugLog({ path: undefined, isDefault: false, show: (line) => shown.push(line) }).write({ event: 'x' })

  assert.equal(shown.length, 1)
})

const MODULE = new URL('./debug-log.ts', import.meta.url).href

// The first 512 bytes (of some shells 1,024) that a file may have are soon full; a file that was emptied has room again.
const WRITE_MANY = `
  import { truncateSync } from 'node:fs'
  import { openDebugLog } from '${MODULE}'
  const path = process.argv[1]
  const log = openDebugLog({ path, isDefault: false })
  for (let line = 0; line < 100; line += 1) log.write({ event: 'line', line })
  truncateSync(path, 300)
  log.write({ event: 'there is room again' })`

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}
