import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { findProgram } from '../tools/available.ts'
import type { Cleanup } from './daemon-under-test.ts'

/** A program at a terminal of its own, which can be resized and closed. */
export interface OwnTerminal {
  readonly pid: number
  /** All that was shown so far, as it came. */
  shown(): string
  /** Waits until this is shown, after what the last call has found; the first group, or all of it. */
  sees(pattern: RegExp): Promise<string>
  type(keys: string): void
  resize(columns: number): void
  /** What closing the window does. */
  hangUp(): void
  readonly ended: Promise<TerminalEnd>
}

interface TerminalEnd {
  readonly code: number | null
  readonly signal: number | null
  /** Whether what is typed shows, and comes by lines: how a shell wants it. Undefined where the terminal is gone. */
  readonly isAsBefore?: boolean
}

export interface TerminalPlace {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly columns?: number
  /** Files in place of the terminal. */
  readonly redirect?: { readonly stdin?: string; readonly stdout?: string; readonly stderr?: string }
}

/** Wants python3. */
export async function atOwnTerminal(
  t: Cleanup,
  command: readonly string[],
  { cwd, env, columns = 80, redirect = {} }: TerminalPlace,
): Promise<OwnTerminal> {
  const driver = spawn(findProgram('python3') ?? '', ['-c', DRIVER, JSON.stringify({ command, columns, redirect })], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  driver.stdin.on('error', () => undefined)
  t.after(() => driver.kill('SIGKILL'))
  const started = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<TerminalEnd>()
  const looks = new Set<() => void>()
  let raw = ''
  createInterface({ input: driver.stdout }).on('line', (line) => {
    const { pid, shown, end } = JSON.parse(line)
    if (pid !== undefined) started.resolve(pid)
    if (shown !== undefined) raw += Buffer.from(shown, 'base64').toString('latin1')
    if (end !== undefined) ended.resolve(end)
    for (const look of looks) look()
  })
  const shown = () => Buffer.from(raw, 'latin1').toString()
  const tell = (message: object) => void driver.stdin.write(`${JSON.stringify(message)}\n`)
  let seen = 0
  const sees = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const text = stripVTControlCharacters(shown())
        const found = pattern.exec(text.slice(seen))
        if (!found) return
        seen += found.index + found[0].length
        looks.delete(look)
        resolve(found[1] ?? found[0])
      }
      looks.add(look)
      void ended.promise.then((end) =>
        reject(new Error(`It ended without showing ${pattern}: ${JSON.stringify(end)} ${shown()}`)),
      )
      look()
    })
  const pid = await started.promise
  t.after(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  })
  return {
    pid,
    shown,
    sees,
    type: (keys) => tell({ type: Buffer.from(keys).toString('base64') }),
    resize: (to) => tell({ columns: to }),
    hangUp: () => tell({ hangUp: true }),
    ended: ended.promise,
  }
}

const DRIVER = `
import base64, fcntl, json, os, select, signal, struct, sys, termios, threading
wanted = json.loads(sys.argv[1])
master, slave = os.openpty()
def resize(columns): fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
resize(wanted['columns'])
before = termios.tcgetattr(slave)[3]
say = lambda what: (sys.stdout.write(json.dumps(what) + '\\n'), sys.stdout.flush())
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for number, name in enumerate(['stdin', 'stdout', 'stderr']):
        path = wanted['redirect'].get(name)
        os.dup2(slave if path is None else os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
    os.closerange(3, 100)
    os.execvp(wanted['command'][0], wanted['command'])
say({'pid': pid})
ended = []
done_r, done_w = os.pipe()
def reap():
    ended.append(os.waitpid(pid, 0)[1])
    os.write(done_w, b'.')
threading.Thread(target=reap, daemon=True).start()
gone = False
rest = b''
stdin = 0
while True:
    readable, _, _ = select.select(([] if gone else [master]) + [done_r] + ([0] if stdin is not None else []), [], [], None)
    if not gone and master in readable:
        chunk = os.read(master, 65536)
        say({'shown': base64.b64encode(chunk).decode()})
        continue
    if 0 in readable:
        chunk = os.read(0, 65536)
        if not chunk: stdin = None
        rest += chunk
        while b'\\n' in rest:
            line, rest = rest.split(b'\\n', 1)
            told = json.loads(line)
            if 'type' in told:
                data = base64.b64decode(told['type'])
                while data: data = data[os.write(master, data[:1024]):]
            if 'columns' in told: resize(told['columns'])
            if 'hangUp' in told and not gone:
                gone = True
                os.close(slave)
                os.close(master)
    if done_r in readable: break
end = {'code': os.WEXITSTATUS(ended[0]) if os.WIFEXITED(ended[0]) else None, 'signal': os.WTERMSIG(ended[0]) if os.WIFSIGNALED(ended[0]) else None}
if not gone: end['isAsBefore'] = termios.tcgetattr(slave)[3] == before
say({'end': end})
`
