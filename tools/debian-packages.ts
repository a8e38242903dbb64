import { spawnSync } from 'node:child_process'
import { findProgram } from './available.ts'

export function mayInstallDebianPackages(): boolean {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined
}

/** Installs them; false where that did not work. */
export function installDebianPackages(packages: readonly string[], say: (sentence: string) => void): boolean {
  say('reading the list of packages …')
  apt(['update', '-qq'])
  say(`installing ${packages.join(', ')} …`)
  const done = apt(['install', '-y', '-qq', '--no-install-recommends', ...packages])
  if (!done) say('that did not work')
  return done
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
