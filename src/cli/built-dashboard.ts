import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LIMIT = 60_000

/**
 * Builds the dashboard where this is a checkout whose sources, or the build itself, are newer than what was built, or where
 * nothing was. A daemon without a dashboard does everything else, so a build that fails or hangs keeps nobody waiting. It gets
 * nothing of the environment: keys may be in there, and what builds is not all ours.
 */
export async function ensureDashboard(root = ROOT, limit = LIMIT): Promise<void> {
  const build = join(root, 'tools/build.ts')
  if (!existsSync(build) || isCurrent(root)) return
  const child = spawn(process.execPath, [build], {
    cwd: root,
    env: {},
    stdio: 'ignore',
    timeout: limit,
    killSignal: 'SIGKILL',
  })
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}

function isCurrent(root: string): boolean {
  const built = join(root, 'dist/index.html')
  if (!existsSync(built)) return false
  const builtAt = statSync(built).mtimeMs
  const sources = readdirSync(join(root, 'src/dashboard'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return [join(root, 'tools/build.ts'), ...sources].every((path) => statSync(path).mtimeMs <= builtAt)
}
