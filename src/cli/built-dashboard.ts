import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SOURCES = join(ROOT, 'src/dashboard')
const BUILT = join(ROOT, 'dist/index.html')
const BUILD = join(ROOT, 'tools/build.ts')

/**
 * Builds the dashboard where this is a checkout whose sources are newer than what was built of them, or of which nothing
 * was. A daemon without a dashboard does everything else, so a build that fails keeps nobody waiting.
 */
export async function ensureDashboard(): Promise<void> {
  if (!existsSync(BUILD) || isCurrent()) return
  const child = spawn(process.execPath, [BUILD], { cwd: ROOT, stdio: 'ignore' })
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}

function isCurrent(): boolean {
  if (!existsSync(BUILT)) return false
  const builtAt = statSync(BUILT).mtimeMs
  return readdirSync(SOURCES, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .every((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs <= builtAt)
}
