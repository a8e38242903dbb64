/** Counts functions that are too long or too hard to follow, and fails where there are more than `tools/size-list.ts` says. */
import { spawnSync } from 'node:child_process'
import { TEST_FILE } from './arrows.ts'
import { sizeList } from './size-list.ts'
import { root } from './source-files.ts'

interface Diagnostic {
  readonly message: string
  /** `lint/complexity/` and the name of the rule. */
  readonly category: string
  readonly location: { readonly path: string; readonly start: { readonly line: number } }
}

const rules = Object.keys(sizeList)
const only = rules.flatMap((rule) => ['--only', `complexity/${rule}`])
const { stdout } = spawnSync('biome', ['lint', ...only, '--max-diagnostics=10000', '--reporter=json', 'src'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 26,
})
const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] }
const ours = diagnostics.filter(({ location }) => !TEST_FILE.test(location.path))
const wrong = rules.filter((rule) => found(rule).length !== sizeList[rule])
for (const rule of wrong) report(rule, found(rule))
process.exitCode = wrong.length === 0 ? 0 : 1

function found(rule: string): readonly Diagnostic[] {
  return ours.filter(({ category }) => category.endsWith(`/${rule}`))
}

function report(rule: string, all: readonly Diagnostic[]): void {
  const { [rule]: known = 0 } = sizeList
  const what =
    all.length > known ? 'Take one of these apart' : 'Fewer than before: lower the number in tools/size-list.ts'
  process.stdout.write(`${rule}: ${all.length}, the list says ${known}. ${what}\n`)
  if (all.length <= known) return
  for (const { location, message } of all)
    process.stdout.write(`  ${location.path}:${location.start.line} ${message}\n`)
}
