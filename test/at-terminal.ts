import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { findProgram } from '../tools/available.ts'
import { BROKER } from './broker-command.ts'
import type { Cleanup } from './daemon-under-test.ts'

/** `broker` at a terminal of its own: all it shows, the first piece of it that fits, and what is typed. Wants python3. */
export function atTerminal(
  t: Cleanup,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
) {
  const wide = 'import fcntl,termios,struct,sys,pty;fcntl.ioctl(0,termios.TIOCSWINSZ,struct.pack("HHHH",40,200,0,0))'
  const spawning = `import pty,sys,os;sys.exit(os.waitstatus_to_exitcode(pty.spawn(["python3","-c",${JSON.stringify(
    `${wide};import os;os.execv(sys.argv[1],sys.argv[1:])`,
  )}]+sys.argv[1:])))`
  const child = spawn(findProgram('python3') ?? '', ['-c', spawning, BROKER, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let shown = ''
  const all = text(child.stdout)
  const firstOf = (pattern: RegExp) =>
    new Promise<string>((resolve) => {
      const look = (chunk: Buffer) => {
        shown += stripVTControlCharacters(chunk.toString())
        const found = pattern.exec(shown)?.[0]
        if (found === undefined) return
        child.stdout.off('data', look)
        resolve(found)
      }
      child.stdout.on('data', look)
    })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { firstOf, ended, all, type: (keys: string) => void child.stdin.write(keys) }
}
