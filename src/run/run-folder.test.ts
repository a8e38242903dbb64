import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createRunFolder, removeRunFolder, sweepRunFolders } from './run-folder.ts'

test('a run has a folder that nobody else can enter', (t) => {
  const folder = createRunFolder(parent(t))

  assert.equal(statSync(folder).mode & 0o777, 0o700)
  removeRunFolder(folder)
  assert.equal(existsSync(folder), false)
})

test('the folder of a run that was killed is swept, that of a living one is not', (t) => {
  const root = parent(t)
  const alive = createRunFolder(root)
  const dead = join(root, `broker-run-${deadPid()}-${ownNamespace(root)}-AbCdEf`)
  mkdirSync(dead)

  sweepRunFolders(root)

  assert.deepEqual(readdirSync(root), [alive.slice(root.length + 1)])
})

test('a link that looks like a folder of a dead run is left, and what it points to', (t) => {
  const root = parent(t)
  const target = join(root, 'precious')
  mkdirSync(target)
  symlinkSync(target, join(root, `broker-run-${deadPid()}-${ownNamespace(root)}-AbCdEf`))
  mkdirSync(join(root, 'broker-run-x-AbCdEf'))

  sweepRunFolders(root)

  assert.equal(readdirSync(root).length, 3)
})

function parent(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the folder of a run in another PID namespace is left: its number says nothing here', (t) => {
  const root = parent(t)
  mkdirSync(join(root, `broker-run-${deadPid()}-1-AbCdEf`))

  sweepRunFolders(root)

  assert.equal(readdirSync(root).length, 1)
})

function ownNamespace(root: string): string {
  const folder = createRunFolder(root)
  removeRunFolder(folder)
  return basename(folder).split('-')[3] ?? ''
}

function deadPid(): number {
  return spawnSync('true').pid
}
