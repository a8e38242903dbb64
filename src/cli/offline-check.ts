import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/index.ts'
import type { ErrorDetail } from '../protocol/index.ts'

const ENTRY = fileURLToPath(new URL('../daemon/validate.ts', import.meta.url))

/** What the daemon's rules say of a definition. */
export interface Verdict {
  readonly name?: string
  /** Paths are those within the definition. */
  readonly problems: readonly ErrorDetail[]
  /** Sentences, each on a name or host that is taken already: by a bundled provider, one of this home, or one before it. */
  readonly conflicts: readonly string[]
}

/** Holds definitions to the rules without a daemon, by a process that has the rules. */
export async function checkOffline(
  { environment, paths }: Config,
  definitions: readonly unknown[],
): Promise<readonly Verdict[]> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ENTRY], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // It has ended: what it said, or did not say, is the answer.
  child.stdin.on('error', () => undefined)
  child.stdin.end(JSON.stringify({ customDir: paths.providers, definitions }))
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`The check of definitions ended with ${code}`)
  return JSON.parse(said) as readonly Verdict[]
}
