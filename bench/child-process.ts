import { type ChildProcess, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export interface Server<Ready> {
  /** What it said when it was ready. */
  readonly ready: Ready
  readonly process: ChildProcess
  stop(): Promise<void>
}

/** A module of this folder as a process of its own; it reports with {@link announce} and ends with this process. */
export function startServer<Ready>(module: string, options: object): Promise<Server<Ready>> {
  const child = spawn(process.execPath, [pathOf(module), JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${module} ended with ${code}`)))
    child.once('message', (ready) => resolve({ ready: ready as Ready, process: child, stop: () => ended(child) }))
  })
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = new Promise((resolve) => child.once('exit', resolve))
  child.disconnect()
  await exit
}

/** Says to the starter that this process is ready, and ends with it. */
export function announce(ready: object): void {
  process.once('disconnect', () => process.exit(0))
  process.send?.(ready)
}

/** The options this process was started with. */
export function startOptions<Options>(): Options {
  return JSON.parse(process.argv[2] ?? '{}') as Options
}

export function pathOf(module: string): string {
  return fileURLToPath(new URL(module, import.meta.url))
}

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
  /** Whether what it says on standard error is passed on as it comes. */
  readonly progress?: 'shown' | 'hidden'
}

/** Runs a command to its end and gives what it wrote. @throws where it fails, with its last words. */
export async function run({ file, args, env, input = '', progress = 'hidden' }: Command): Promise<string> {
  const child = spawn(file, args, { env: env ?? process.env, stdio: ['pipe', 'pipe', 'pipe'] })
  if (progress === 'shown') child.stderr.pipe(process.stderr, { end: false })
  const exit = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  // A command that reads nothing closes its end first.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  if (code === 0) return stdout
  throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${stderr || stdout}`)
}
