import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { BrokerError } from '../../protocol/index.ts'
import { lockHome } from './home-lock.ts'
import { openStore } from './open-store.ts'

const PLANTS: Readonly<Record<string, (place: string, folder: string) => void>> = {
  'a link to a file': (place, folder) => symlinkSync(join(folder, 'target'), place),
  'a link to nothing': (place, folder) => symlinkSync(join(folder, 'nothing'), place),
  'a link to a device': (place) => symlinkSync('/dev/zero', place),
  'a FIFO': (place) => void execFileSync('mkfifo', [place]),
  'a folder': (place) => void mkdirSync(place),
}
const DATABASES = ['broker.db', 'replay.db', 'daemon.lock']
const FILES = DATABASES.flatMap((name) => ['', '-wal', '-shm', '-journal'].map((ending) => `${name}${ending}`))

describe('a database of the home', () => {
  for (const [kind, plant] of Object.entries(PLANTS)) {
    for (const file of FILES) {
      it(`is not opened where ${file} is ${kind}, which stays as it was`, async (t) => {
        const folder = temporaryFolder(t)
        writeFileSync(join(folder, 'target'), 'CNRY', { mode: 0o644 })
        plant(join(folder, file), folder)
        const before = readdirSync(folder)

        await assert.rejects(open(folder, file), (error) => {
          assert.ok(error instanceof BrokerError)
          assert.equal(error.name, 'OperationNotAllowedError')
          return error.message === `Cannot use the file "${join(folder, file)}": it is a link, or no file`
        })

        assert.deepEqual(readdirSync(folder), before)
        assert.equal(readFileSync(join(folder, 'target'), 'utf8'), 'CNRY')
      })
    }
  }
})

async function open(folder: string, file: string): Promise<unknown> {
  if (file.startsWith('daemon.lock')) return lockHome(join(folder, 'daemon.lock'), () => 'nobody')
  return openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath: join(folder, 'replay.db') })
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
