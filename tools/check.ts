/** `npm run check`: everything that can be said of the sources without running them, side by side. */
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { root } from './source-files.ts'

interface Check {
  readonly name: string
  readonly command: readonly [string, ...string[]]
}

const checks: readonly Check[] = [
  { name: 'types', command: ['tsc', '--noEmit', ...remembering('types')] },
  {
    name: 'types of the dashboard',
    command: ['tsc', '--noEmit', '--project', 'src/dashboard', ...remembering('dashboard')],
  },
  { name: 'format and lint', command: ['biome', 'check', '--error-on-warnings', '--colors=off', '.'] },
  { name: 'size of functions', command: ['node', 'tools/check-size.ts'] },
  { name: 'unused code', command: ['knip', '--no-progress'] },
  { name: 'arrows', command: ['node', 'tools/check-arrows.ts'] },
  { name: 'doors, environment, reveals, tables', command: ['node', 'tools/check-sources.ts'] },
]

/** What has not changed since the last time is not looked at again. */
function remembering(name: string): readonly string[] {
  return ['--incremental', '--tsBuildInfoFile', join(root, `node_modules/.cache/check/${name}.tsbuildinfo`)]
}

const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}` }

interface Outcome {
  readonly name: string
  readonly passed: boolean
  readonly seconds: number
  readonly output: string
}

const outcomes = await Promise.all(checks.map(run))
for (const outcome of outcomes.filter(({ passed }) => !passed))
  process.stdout.write(`\n${outcome.name}:\n${outcome.output}\n`)
for (const { name, passed, seconds } of outcomes)
  process.stdout.write(`${passed ? '✔' : '✖'} ${name} (${seconds.toFixed(1)} s)\n`)
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1

async function run({ name, command: [program, ...args] }: Check): Promise<Outcome> {
  const start = performance.now()
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<boolean>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code === 0))
  })
  const [stdout, stderr, passed] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { name, passed, seconds: (performance.now() - start) / 1000, output: `${stdout}${stderr}`.trim() }
}
