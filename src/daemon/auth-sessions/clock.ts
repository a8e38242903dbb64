/** The time, and a way to be woken up. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `task` once after `delay` milliseconds, unless what it returns is called before. Keeps no process alive. */
  wake(delay: number, task: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  wake(delay, task) {
    const timer = setTimeout(task, delay).unref()
    return () => clearTimeout(timer)
  },
}
