import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { whyNot } from '../tools/available.ts'
import { BROKER, onboarded } from './broker-command.ts'
import { whenListening } from './daemon-under-test.ts'
import { atOwnTerminal } from './own-terminal.ts'

describe('what the daemon logs', { timeout: 120_000 }, () => {
  it('goes to standard error of `daemon serve` too, in lines of JSON, where that is no terminal', async (t) => {
    const world = await onboarded(t)
    await world.daemon.stop()
    const serving = world.start(['daemon', 'serve'], { env: { BROKER_LOG_LEVEL: 'debug' } })
    await whenListening(world.home, serving.process.pid)
    assert.equal((await world.broker(['whoami', '--quiet'])).code, 0)
    serving.process.kill('SIGTERM')

    const { code, stdout, stderr } = await serving.ended

    assert.deepEqual([code, stdout], [0, ''])
    const lines = stderr.trimEnd().split('\n')
    const logged = readFileSync(join(world.home, 'server/logs/daemon.log'), 'utf8').trimEnd().split('\n')
    assert.ok(lines.length > 1)
    assert.deepEqual(lines, logged.slice(-lines.length))
    for (const line of lines) assert.match(JSON.parse(line).time, /^\d{4}-.*Z$/)
  })

  it('goes nowhere else where it was started in the background', async (t) => {
    const world = await onboarded(t)
    await world.daemon.stop()
    try {
      assert.equal((await world.broker(['daemon', 'start'])).code, 0)
      assert.equal(readFileSync(join(world.home, 'server/logs/start.log'), 'utf8'), '')
    } finally {
      await world.broker(['daemon', 'stop'])
    }
  })

  it('is for people at a terminal, and as it is in a pipe', { skip: whyNot('python3') }, async (t) => {
    const world = await onboarded(t)
    const path = join(world.home, 'server/logs/daemon.log')
    const entry = {
      level: 40,
      time: '2026-11-22T10:00:00.000Z',
      error: 'X',
      more: { a: 1 },
      msg: 'odd \u001b[31mthing',
    }
    appendFileSync(path, `${JSON.stringify(entry)}\nnot JSON\n`)

    const terminal = await atOwnTerminal(t, [BROKER, 'daemon', 'logs', '-n', '2'], {
      cwd: world.folder,
      env: world.env,
    })
    await terminal.ended
    const rows = stripVTControlCharacters(terminal.shown()).split('\r\n')
    assert.match(rows[0] ?? '', /^2026-11-22 \d\d:00:00 warn {2}odd \\u001b\[31mthing error=X more=\{"a":1\}$/)
    assert.equal(rows[1], 'info  not JSON')

    const { stdout } = await world.broker(['daemon', 'logs', '-n', '2'])
    assert.equal(stdout, `${JSON.stringify(entry)}\nnot JSON\n`)
  })
})
