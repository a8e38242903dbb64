import { writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Keeps the memory of this process to itself, as far as a process can: no signal opens Node's inspector or ends it by
 * surprise, and a core file, where one is made, holds none of its memory (core(5); Linux alone).
 */
export function keepMemoryPrivate(): void {
  // Without a listener the first of them opens the inspector, and the second ends the process.
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {
    // Other systems have no such file.
  }
}

/** What was dropped shortly before goes too: a request that is being answered, for instance. */
const SWEEP_AFTER_MS = 1000

/**
 * From now on, memory that the garbage collector frees is overwritten with zeros: strings cannot be wiped by those who
 * made them. What it returns has everything collected that is dropped now; collections happen by themselves too, but a
 * daemon at rest may wait hours for one.
 */
export function overwriteFreedMemory(): () => void {
  setFlagsFromString('--clear-free-memory')
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const collect = () => gc()
  const timer = setTimeout(collect, SWEEP_AFTER_MS).unref()
  return () => void timer.refresh()
}
