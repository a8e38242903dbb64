import { spawn } from 'node:child_process'

/** A person may have to touch a token, or unlock another program. */
const PATIENCE_MS = 60_000
const MOST_BYTES = 4096

/**
 * Runs a command line by the shell and returns what it printed. What it says on standard error goes nowhere: it may quote
 * what is secret.
 * @param environment of the command: without what is the daemon's own affair
 * @throws Error saying how it ended
 */
export function printedBy(command: string, environment: Readonly<Record<string, string>>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'ignore'] as const
    const child = spawn(command, { shell: true, detached: true, env: environment, stdio: [...stdio] })
    // With all that it has started: any of them may hold the pipe.
    const end = () => void (child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'))
    const timer = setTimeout(end, PATIENCE_MS)
    const chunks: Buffer[] = []
    let length = 0
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > MOST_BYTES) end()
      else chunks.push(chunk)
    })
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      const printed = Buffer.concat(chunks)
      for (const chunk of chunks) chunk.fill(0)
      if (code === 0) resolve(printed)
      else {
        printed.fill(0)
        reject(new Error(signal === null ? `it ended with ${code}` : `it was ended by ${signal}`))
      }
    })
  })
}
