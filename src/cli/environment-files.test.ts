import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findVariables } from './environment-files.ts'

test('the environment wins over .env.local, and that over .env', (t) => {
  const root = folder(t, {
    '.env': 'A_KEY=CNRYa1\nB_KEY=CNRYb1\nC_KEY=CNRYc1',
    '.env.local': 'A_KEY=CNRYa2\nB_KEY=CNRYb2',
  })

  assert.deepEqual(find(root, { A_KEY: 'CNRYa3' }).found, {
    A_KEY: 'CNRYa3 environment',
    B_KEY: 'CNRYb2 .env.local',
    C_KEY: 'CNRYc1 .env',
  })
})

test('a BOM, export, quotes, comments, Windows line ends and repeated names are read as dotenv reads them', (t) => {
  const root = folder(t, {
    '.env': '\uFEFFexport A_KEY="CNRYa" # mine\r\nB_KEY=CNRYold\r\nB_KEY=\'CNRY#b\'\r\nOTHER=CNRYx\r\n',
  })

  assert.deepEqual(find(root).found, { A_KEY: 'CNRYa .env', B_KEY: 'CNRY#b .env' })
})

test('nothing is run, and what a shell would have to make is no value', (t) => {
  const root = folder(t, {})
  const planted = join(root, 'planted')
  writeFileSync(join(root, '.env'), `A_KEY=$(touch ${planted})CNRY\nB_KEY=\${CNRY}\nC_KEY="CNRY1\nCNRY2"`)

  assert.deepEqual(find(root).found, {})
  assert.equal(existsSync(planted), false)
})

test('hostile files are skipped and named: too large, binary, a folder, a link elsewhere', (t) => {
  const elsewhere = folder(t, { secret: 'A_KEY=CNRYother' })
  const root = folder(t, { '.env': 'x'.repeat(1024 * 1024 + 1), '.env.local': 'A_KEY=CNRY\0' })
  mkdirSync(join(root, '.env.development'))
  symlinkSync(join(elsewhere, 'secret'), join(root, '.env.development.local'))

  const { found, skipped } = find(root)

  assert.deepEqual(found, {})
  assert.deepEqual(skipped, [
    '.env.development.local: it is a link out of its folder',
    '.env.local: it is not text',
    '.env.development: it is no regular file',
    '.env: it is larger than 1 MiB',
  ])
})

test('a pipe in the place of a file does not hold the command up', (t) => {
  const root = folder(t, {})
  execFileSync('mkfifo', [join(root, '.env')])

  assert.deepEqual(find(root).skipped, ['.env: it is no regular file'])
})

function find(root: string, environment: Readonly<Record<string, string>> = {}) {
  const skipped: string[] = []
  const names = new Set(['A_KEY', 'B_KEY', 'C_KEY'])
  const variables = findVariables(names, environment, root, (file, why) => skipped.push(`${file}: ${why}`))
  const found = [...variables].map(([name, { value, source }]) => [name, `${value.reveal()} ${source}`])
  return { found: Object.fromEntries(found), skipped }
}

function folder(t: TestContext, files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}
