import { spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Enclosure } from '../isolation/index.ts'
import { commandName } from './command-name.ts'
import { isExecutable } from './find-program.ts'

const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

/** Signals that are passed on to the child; those a terminal sends go to its whole foreground group, the child too. */
const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGINT', 'SIGQUIT', 'SIGWINCH', 'SIGCONT'] as const
const SENT_BY_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGWINCH', 'SIGCONT'])

export interface ChildCommand {
  readonly command: readonly [string, ...string[]]
  readonly environment: Readonly<Record<string, string>>
  /** Descriptors from 3 on that it gets under the same numbers. */
  readonly descriptors: readonly number[]
  /** Whether a terminal sends its own signals to this process's group. */
  readonly atTerminal: boolean
  /** The words that start it where it belongs; as it is where absent. */
  readonly enclosed?: Enclosure['enclosed'] | undefined
  readonly onStart: (pid: number) => void
}

/** How the child ended, as a shell tells it: its code, 128+n for signal n, 127 not found, 126 not executable. */
export type ChildExit = { readonly code: number; readonly failure?: string }

/** Runs the command without a shell on this process's own standard streams, and passes signals on until it ends. */
export function spawnChild({
  command,
  environment,
  descriptors,
  atTerminal,
  enclosed,
  onStart,
}: ChildCommand): Promise<ChildExit> {
  const [file] = command
  // The program that encloses it would tell in its own words, and as an end of the command.
  const obstacle = enclosed && whyNotExecutable(file, environment)
  if (obstacle) return Promise.resolve(cannotRun(file, obstacle))
  const [program, ...args] = enclosed?.(command) ?? command
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: { ...environment }, stdio: standardAnd(descriptors), shell: false })
    if (child.pid !== undefined) onStart(child.pid)
    const stopForwarding = forwardSignals((signal) => void child.kill(signal), atTerminal)
    child.once('error', (error) => {
      stopForwarding()
      resolve(cannotRun(file, error))
    })
    child.once('exit', (code, signal) => {
      stopForwarding()
      resolve({ code: signal === null ? (code ?? 0) : 128 + constants.signals[signal] })
    })
  })
}

/** The standard streams, and each of these under its own number. */
export function standardAnd(descriptors: readonly number[]): (number | 'ignore')[] {
  const stdio: (number | 'ignore')[] = [0, 1, 2]
  // Above 2, what is ignored is not opened.
  for (let number = 3; number <= Math.max(2, ...descriptors); number += 1) {
    stdio.push(descriptors.includes(number) ? number : 'ignore')
  }
  return stdio
}

/** Passes on what is for the child, but for what a terminal sends to it as well; until what comes back is called. */
export function forwardSignals(pass: (signal: NodeJS.Signals) => void, atTerminal: boolean): () => void {
  const listeners = FORWARDED.map((signal) => {
    const listener = () => {
      if (!atTerminal || !SENT_BY_TERMINAL.has(signal)) pass(signal)
    }
    process.on(signal, listener)
    return () => process.off(signal, listener)
  })
  return () => {
    for (const remove of listeners) remove()
  }
}

/** As execvp(3) would fail; undefined where it would not. */
function whyNotExecutable(file: string, { PATH = '/bin:/usr/bin' }: ChildCommand['environment']): Error | undefined {
  const candidates = file.includes('/') ? [file] : PATH.split(delimiter).map((folder) => join(folder || '.', file))
  const there = candidates.filter((path) => existsSync(path))
  if (there.some((path) => isExecutable(path) && !statSync(path).isDirectory())) return undefined
  const [code, why] = there.length === 0 ? ['ENOENT', 'there is none'] : ['EACCES', 'permission denied']
  return Object.assign(new Error(why), { code })
}

/** What is said of a command that could not be started. */
export function cannotRun(file: string, error: Error): ChildExit {
  const isMissing = 'code' in error && error.code === 'ENOENT'
  const name = commandName(file)
  return isMissing
    ? { code: NOT_FOUND, failure: `Cannot run "${name}": there is no such command` }
    : { code: NOT_EXECUTABLE, failure: `Cannot run "${name}": ${error.message.replaceAll(file, name)}` }
}
