import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BrokerError } from '../../protocol/index.ts'
import { openFileJournal } from './journal.ts'

const WRITER = fileURLToPath(new URL('./journal-writer.fixture.ts', import.meta.url))

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'broker-journal-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** A journal whose log is a list, which refuses as long as `failure` is set. */
function journal(folder: string) {
  const log: number[] = []
  const state: { failure: Error | undefined } = { failure: undefined }
  const opened = openFileJournal<number>({
    folder,
    store: async (rows) => {
      if (state.failure) throw state.failure
      // As the log does: what is there is left out.
      log.push(...rows.filter((row) => !log.includes(row)))
    },
    onFailure: () => undefined,
  })
  return { log, state, opened }
}

describe('the journal', () => {
  it('has what was written in its files before it says so, and in the log once it is drained', async (t) => {
    const at = folder(t)
    const { log, opened } = journal(at)
    await Promise.all([opened.write(1), opened.write(2)])
    assert.equal(readFileSync(join(at, 'releases-0.jsonl'), 'utf8'), '1\n2\n')
    await opened.drained()
    await opened.write(3)
    await opened.close()
    assert.deepEqual(log, [1, 2, 3])
    for (const file of ['releases-0.jsonl', 'releases-1.jsonl']) assert.equal(readFileSync(join(at, file), 'utf8'), '')
  })

  it('keeps what the log does not take, in order, while more is written', async (t) => {
    const { log, state, opened } = journal(folder(t))
    await opened.write(1)
    state.failure = new Error('the log is busy')
    await assert.rejects(opened.drained(), /busy/)
    await opened.write(2)
    await assert.rejects(opened.drained(), /busy/)
    state.failure = undefined
    await opened.drained()
    await opened.close()
    assert.deepEqual(log, [1, 2])
  })

  it('loses nothing that it has answered for to a kill, whatever the writer was doing', async (t) => {
    const at = folder(t)
    const { stdout, signal } = spawnSync(process.execPath, [WRITER, at, '300'], { encoding: 'utf8' })
    assert.equal(signal, 'SIGKILL')
    const answered = stdout.trim().split('\n').map(Number)
    assert.ok(answered.length > 0)
    const { log, opened } = journal(at)
    await opened.drained()
    await opened.close()
    assert.deepEqual(new Set(answered).difference(new Set(log)), new Set())
  })

  it('leaves out a line that was cut off, and what follows it is read', async (t) => {
    const at = folder(t)
    appendFileSync(join(at, 'releases-0.jsonl'), '1\n{"cut')
    const first = journal(at)
    first.state.failure = new Error('the daemon is killed before it drains')
    await first.opened.write(2)
    const second = journal(at)
    await second.opened.drained()
    await second.opened.close()
    assert.deepEqual(second.log, [1, 2])
  })

  it('writes nothing, and says so, where the file cannot grow', { skip: process.platform === 'win32' }, async (t) => {
    const at = folder(t)
    const script = `ulimit -f 1; trap '' XFSZ; exec "$0" "$1" "$2" 100000`
    const { stdout, status } = spawnSync('bash', ['-c', script, process.execPath, WRITER, at], { encoding: 'utf8' })
    assert.equal(status, 3, 'refused with DaemonUnavailableError')
    const answered = stdout.trim().split('\n').map(Number)
    const { log, opened } = journal(at)
    await opened.drained()
    await opened.close()
    assert.deepEqual(
      log.toSorted((a, b) => a - b),
      answered.toSorted((a, b) => a - b),
    )
  })

  it('follows no link that somebody has put in the place of a file', (t) => {
    const at = folder(t)
    symlinkSync(join(at, 'elsewhere'), join(at, 'releases-1.jsonl'))
    assert.throws(() => journal(at), /ELOOP/)
  })

  it('takes no more where the log has taken nothing for too long', async (t) => {
    const { state, opened } = journal(folder(t))
    state.failure = new Error('the log is gone')
    const written = Array.from({ length: 100_000 }, (_, row) => opened.write(row))
    await Promise.all(written)
    await assert.rejects(
      opened.write(-1),
      (error) => error instanceof BrokerError && error.name === 'DaemonUnavailableError',
    )
    await assert.rejects(opened.close(), /gone/)
  })
})
