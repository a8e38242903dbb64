import { spawnSync } from 'node:child_process'
import { findProgram, whyNot } from '../tools/available.ts'

/** False where a command can be kept apart here; else the reason, for `skip`: bubblewrap may be there and forbidden. */
export function whyNoIsolation(): string | false {
  const missing = whyNot('bubblewrap')
  if (missing !== false) return missing
  for (const own of [['--unshare-user', '--unshare-net'], process.getuid?.() === 0 ? [] : ['--unshare-user']]) {
    const args = [...own, '--dev-bind', '/', '/', 'true']
    const { status, stderr } = spawnSync(findProgram('bwrap') ?? '', args, { encoding: 'utf8' })
    if (status !== 0) return `namespaces are forbidden here: ${stderr.trim()}`
  }
  return false
}
