import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CPU = '/sys/fs/cgroup/cpu'
const PERIOD_US = 10_000

/** Lets a process have so much of one core. @returns what ends that; undefined where this machine cannot */
export function throttle(pid: number, share: number): (() => void) | undefined {
  const group = join(CPU, `broker-bench-${pid}`)
  try {
    mkdirSync(group)
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US))
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(PERIOD_US * share)))
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
  } catch {
    return undefined
  }
  return () => {
    writeFileSync(join(CPU, 'cgroup.procs'), String(pid))
    rmdirSync(group)
  }
}
