import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { owner, send, startDaemon } from './daemon-under-test.ts'

const LONGEST_MS = 30_000
const LOOK_AGAIN_MS = 200
const PIECE = 1024 * 1024

describe('the memory of the daemon', { skip: process.platform !== 'linux' && 'only Linux has /proc' }, () => {
  it('is in no core file, and no signal but those that end it ends it', async (t) => {
    const daemon = await startDaemon(t)

    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) daemon.process.kill(signal)

    assert.equal((await send(daemon, 'GET', '/api/health')).status, 200)
    assert.equal(Number.parseInt(readFileSync(`/proc/${daemon.process.pid}/coredump_filter`, 'utf8'), 16), 0)
  })

  it('has no copy of a credential that was used and logged out, nor of the master key', async (t) => {
    const daemon = await startDaemon(t, { env: { BROKER_ENCRYPTION_MODE: 'local_key' } })
    const { pid = 0 } = daemon.process
    const ada = await owner(daemon)
    const key = `sk-proj-CNRY${randomBytes(20).toString('hex')}`
    const { body: session } = await ada.call('POST', '/api/auth/sessions', { provider: 'openai', flow: 'api_key' })
    await ada.call('POST', `/api/auth/sessions/${session.id}/resume`, { input: { api_key: key } })
    for (let time = 0; time < 5; time++) {
      assert.equal((await ada.call('POST', '/api/credentials/resolve', { host: 'api.openai.com' })).status, 200)
    }
    assert.notDeepEqual(copiesIn(pid, key), [])

    assert.equal((await ada.call('POST', '/api/connections/openai/default/logout', {})).status, 200)

    const masterKey = readFileSync(join(daemon.home, 'server/master.key'), 'utf8').trim()
    // What Node reads requests into is its own: longer ones go over what was there.
    const longer = () => send(daemon, 'GET', '/api/health', '', { 'x-filler': 'x'.repeat(8000) })
    await until(longer, () => [...copiesIn(pid, key), ...copiesIn(pid, masterKey)])
    await until(longer, () => copiesIn(pid, Buffer.from(masterKey, 'base64')))
  })
})

/** Asks on until nothing is found. It is swept within a second or two of the logout, and not at a moment one could await. */
async function until(ask: () => Promise<unknown>, find: () => readonly string[]): Promise<void> {
  const giveUpAt = performance.now() + LONGEST_MS
  for (;;) {
    await ask()
    const found = find()
    if (found.length === 0) return
    assert.ok(performance.now() < giveUpAt, found.join('\n'))
    await delay(LOOK_AGAIN_MS)
  }
}

/** Returns where the process has it: the kind of memory, and what stands around it. */
function copiesIn(pid: number, wanted: string | Buffer): readonly string[] {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, start = '', end = '', name = ''] = /^(\w+)-(\w+) rw\S+ \S+ \S+ \S+\s*(.*)$/.exec(line) ?? []
        return start === '' ? [] : copiesBetween(memory, wanted, [Number(`0x${start}`), Number(`0x${end}`)], name)
      })
  } finally {
    closeSync(memory)
  }
}

function copiesBetween(
  memory: number,
  wanted: string | Buffer,
  [start, end]: readonly [number, number],
  name: string,
): readonly string[] {
  const copies: string[] = []
  // Pieces overlap, so that none is cut in two.
  const piece = Buffer.alloc(PIECE + wanted.length)
  for (let from = start; from < end; from += PIECE) {
    const bytes = piece.subarray(0, readThere(memory, piece.subarray(0, end - from), from))
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
      copies.push(
        `${name || 'heap'}: ${JSON.stringify(bytes.subarray(Math.max(0, at - 20), at + 8).toString('latin1'))}`,
      )
    }
  }
  return copies
}

/** Pages that were never used, or are gone since, have nothing to read. */
function readThere(memory: number, into: Buffer, from: number): number {
  try {
    return readSync(memory, into, 0, into.length, from)
  } catch {
    return 0
  }
}
