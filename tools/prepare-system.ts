/**
 * Before `npm test`: on a bare Debian, as root, installs what the suites use beyond what npm brings. Elsewhere, or where that
 * fails, it says what is left out. It never fails the run, and is quick where everything is there.
 */
import { spawnSync } from 'node:child_process'
import { findProgram, type Part, parts, whyNot } from './available.ts'

const all = Object.keys(parts) as readonly Part[]
const missing = all.filter((part) => whyNot(part) !== false)

if (missing.length > 0 && mayInstall()) install(missing.flatMap((part) => parts[part].packages))
for (const part of all) {
  const reason = whyNot(part)
  if (reason !== false) say(`suites that need it are left out: ${reason}`)
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined
}

function install(packages: readonly string[]): void {
  say('reading the list of packages …')
  apt(['update', '-qq'])
  say(`installing ${packages.join(', ')} …`)
  if (!apt(['install', '-y', '-qq', '--no-install-recommends', ...packages])) say('that did not work')
}

function apt(args: readonly string[]): boolean {
  const { status } = spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', DEBCONF_NOWARNINGS: 'yes' },
    // dpkg's own chatter is of use only where it fails.
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 10 * 60_000,
  })
  return status === 0
}

function say(sentence: string): void {
  process.stdout.write(`prepare: ${sentence}\n`)
}
