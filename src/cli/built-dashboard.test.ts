import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ensureDashboard } from './built-dashboard.ts'

const WRITES_WHAT_IT_SEES = `
import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('dist', { recursive: true })
writeFileSync('dist/index.html', JSON.stringify(process.env))
`

/** A checkout with one source, and this as its build. */
function checkout(t: TestContext, build: string): string {
  const root = mkdtempSync(join(tmpdir(), 'broker-checkout-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'src/dashboard/pages'), { recursive: true })
  mkdirSync(join(root, 'tools'))
  writeFileSync(join(root, 'src/dashboard/pages/one.tsx'), '')
  writeFileSync(join(root, 'tools/build.ts'), build)
  return root
}

test('the dashboard is built where it is missing, and again once a source is newer, not before', async (t) => {
  const root = checkout(t, WRITES_WHAT_IT_SEES)
  const built = join(root, 'dist/index.html')
  await ensureDashboard(root)
  writeFileSync(built, 'as it was')
  await ensureDashboard(root)
  assert.equal(readFileSync(built, 'utf8'), 'as it was')
  const later = Date.now() / 1000 + 60
  utimesSync(join(root, 'src/dashboard/pages/one.tsx'), later, later)
  await ensureDashboard(root)
  assert.notEqual(readFileSync(built, 'utf8'), 'as it was')
})

test('a build sees no key that is in the environment', async (t) => {
  const root = checkout(t, WRITES_WHAT_IT_SEES)
  process.env['CNRY_KEY'] = 'CNRYbuildbuild'
  t.after(() => delete process.env['CNRY_KEY'])
  await ensureDashboard(root)
  assert.doesNotMatch(readFileSync(join(root, 'dist/index.html'), 'utf8'), /CNRY|PATH|HOME/)
})

test('a build that hangs or fails, and a place without one, keep nobody waiting', async (t) => {
  await ensureDashboard(checkout(t, 'setInterval(() => {}, 1000)'), 500)
  await ensureDashboard(checkout(t, 'process.exit(1)'))
  const installed = checkout(t, '')
  rmSync(join(installed, 'tools'), { recursive: true })
  await ensureDashboard(installed)
  assert.equal(existsSync(join(installed, 'dist')), false)
})
