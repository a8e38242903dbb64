/** Something that waits for a person, or for what a person does elsewhere, and can be told to give up. */
export interface Interruption {
  readonly signal: AbortSignal
  stop(): void
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const waiting = new Set<AbortController>()
let hasInterrupted = false

/**
 * Ctrl-C, `kill` and the closing of the terminal end a wait and not the process, so that what was begun is taken back and
 * the exit code is ours. A second Ctrl-C or `kill` ends the process.
 */
export function interruption(): Interruption {
  const controller = new AbortController()
  waiting.add(controller)
  if (waiting.size === 1) for (const name of SIGNALS) process.on(name, interrupt)
  return { signal: controller.signal, stop: () => forget(controller) }
}

/** Interrupts all that waits. False where nothing does, or has been: then nothing has to be taken back. */
export function interrupt(): boolean {
  const interrupted = [...waiting]
  if (interrupted.length === 0) return hasInterrupted
  hasInterrupted = true
  // A shell that ends and the terminal that closes both send SIGHUP: taking back goes on.
  process.on('SIGHUP', () => undefined)
  for (const controller of interrupted) forget(controller)
  for (const controller of interrupted) controller.abort()
  return true
}

function forget(controller: AbortController): void {
  if (waiting.delete(controller) && waiting.size === 0) for (const name of SIGNALS) process.off(name, interrupt)
}
