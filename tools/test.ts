/**
 * `npm test`: prepares the system, checks the sources, then runs every suite. Fails where any of them does.
 * `npm test -- --room vault`, or a path: the suites of one room, of one folder or one file, and nothing else.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './source-files.ts'
import { ALL_SUITES, BUNDLED_DAEMON, suitesOf } from './suites.ts'

/** Milliseconds after which a test has failed: far more than any needs, so that one that hangs is named, and ends. */
const LONGEST_TEST = 900_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { room: { type: 'string', multiple: true, default: [] } },
})
const isPart = values.room.length > 0 || positionals.length > 0

/** Suites and the daemons that they start load the same code hundreds of times: compiled once, it is kept. */
const env: NodeJS.ProcessEnv = { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/suites') }
if (!isPart) {
  run('tools/prepare-system.ts')
  run('tools/build.ts')
  // A part has begun before a bundle is made.
  if (run('tools/bundle-daemon.ts')) env['SUITES_DAEMON'] = BUNDLED_DAEMON
}
const checked = isPart || run('tools/check.ts')
const patterns = isPart ? suitesOf(values.room, positionals) : ALL_SUITES
const suites = globSync(patterns, { cwd: root }).toSorted()
const passed = suites.length > 0 && run('--test', ...runnerOptions(), ...suites)
if (suites.length === 0) process.stdout.write('there are no suites\n')
if (!checked) process.stdout.write('\nThe suites ran, but `npm run check` failed: see above.\n')
process.exitCode = checked && passed ? 0 : 1

/** Returns options by which a test that left something open, or hangs, keeps no other from being told about. */
function runnerOptions(): readonly string[] {
  return ['--test-reporter=spec', '--test-concurrency=2', `--test-timeout=${LONGEST_TEST}`, '--test-force-exit']
}

function run(...args: readonly string[]): boolean {
  const { status } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    cwd: root,
    stdio: 'inherit',
    env,
  })
  return status === 0
}
