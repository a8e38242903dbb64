import type { ServeOptions } from './serve-run.ts'

/** The half of a run that is its proxy's process. `broker run` itself starts without it, and without the proxy's code. */
export async function serveRun(options: ServeOptions): Promise<void> {
  const half = await import('./serve-run.ts')
  await half.serveRun(options)
}
