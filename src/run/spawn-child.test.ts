import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { spawnChild } from './spawn-child.ts'

const environment = { PATH: process.env['PATH'] ?? '' }
const NODE = process.execPath

test("the child's code is passed on", async () => {
  assert.deepEqual(await run('sh', '-c', 'exit 7'), { code: 7 })
})

test('a child ended by a signal gives 128 and its number', async () => {
  assert.deepEqual(await run('sh', '-c', 'kill -KILL $$'), { code: 137 })
})

test('a command that is not there gives 127, one that cannot be run 126', async (t) => {
  const file = join(folder(t), 'data.txt')
  writeFileSync(file, 'not a program')

  const missing = await run('no-such-command-CNRY')
  const notExecutable = await run(file)

  assert.equal(missing.code, 127)
  assert.match(missing.failure ?? '', /no such command/)
  assert.equal(notExecutable.code, 126)
})

test('arguments reach the child as they are, no shell in between', async (t) => {
  const file = join(folder(t), 'out.txt')
  const text = '$(touch /tmp/pwned) "; \'*'

  await run(NODE, '-e', 'fs.writeFileSync(process.argv[1], process.argv[2])', file, text)

  assert.equal(readFileSync(file, 'utf8'), text)
})

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) {
  test(`${signal} to the parent reaches the child`, async (t) => {
    const ready = join(folder(t), 'ready')
    const code = `process.once('${signal}', () => process.exit(42)); fs.writeFileSync(process.argv[1], ''); setInterval(() => {}, 1000)`
    const listeners = process.listenerCount(signal)
    const appeared = untilChanged(join(ready, '..'))
    const exit = spawnChild({
      command: [NODE, '-e', code, ready],
      environment,
      descriptors: [],
      atTerminal: false,
      onStart: () => {},
    })
    await appeared

    process.kill(process.pid, signal)

    assert.deepEqual(await exit, { code: 42 })
    assert.equal(process.listenerCount(signal), listeners)
  })
}

function run(...command: [string, ...string[]]) {
  return spawnChild({ command, environment, descriptors: [], atTerminal: false, onStart: () => {} })
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function untilChanged(path: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(path, () => {
      watcher.close()
      resolve()
    })
  })
}
