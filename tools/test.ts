/** `npm test`: prepares the system, checks the sources, then runs every suite. Fails where any of them does. */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { root } from './source-files.ts'

const SUITES = ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts']

run('tools/prepare-system.ts')
run('tools/build.ts')
const checked = run('tools/check.ts')
const suites = globSync(SUITES, { cwd: root }).toSorted()
const passed = run('--test', '--test-reporter=spec', '--test-concurrency=2', ...suites)
if (suites.length === 0) process.stdout.write('there are no suites\n')
if (!checked) process.stdout.write('\nThe suites ran, but `npm run check` failed: see above.\n')
process.exitCode = checked && passed && suites.length > 0 ? 0 : 1

function run(...args: readonly string[]): boolean {
  return (
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { cwd: root, stdio: 'inherit' })
      .status === 0
  )
}
