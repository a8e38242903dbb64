import { writeFileSync } from 'node:fs'

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
