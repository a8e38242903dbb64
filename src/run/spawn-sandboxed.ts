import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import type { Sandbox, SandboxWay } from '../isolation/index.ts'
import { type ChildCommand, type ChildExit, cannotRun, forwardSignals, standardAnd } from './spawn-child.ts'

export interface SandboxedCommand extends Omit<ChildCommand, 'enclosed'> {
  readonly sandbox: Sandbox
  /** The program inside that starts the command. */
  readonly firstProcess: NonNullable<Sandbox['firstProcess']>
  readonly ways: readonly SandboxWay[]
  readonly warn: (message: string) => void
  /** Folders that the command may read besides, and such as it may write. */
  readonly shown: readonly string[]
  readonly own: readonly string[]
}

/** What the first program in the sandbox says: with `error` the command did not start, otherwise it ended with `code`. */
interface SandboxEnd {
  readonly type: 'ended'
  readonly code?: number
  readonly error?: { readonly code?: string; readonly message: string }
}

/** A way out that could not be opened for programs without a proxy. */
interface ClosedWay {
  readonly type: 'closed'
  readonly port: number
  readonly why: string
}

function closedLine({ port, why }: ClosedWay): string {
  return `Programs that know no proxy cannot be led to port ${port} in the sandbox (${why}); others reach it`
}

const KILLED = 137

/**
 * Runs the command in its sandbox, on this process's own standard streams. The end of the command is what the first program inside
 * says: that of bubblewrap tells nothing, as it takes the terminal's Ctrl-C for itself.
 */
export function spawnSandboxed(command: SandboxedCommand): Promise<ChildExit> {
  const { command: words, environment, descriptors, ways, atTerminal, onStart } = command
  const child = startFirst(command)
  if (child.pid !== undefined) onStart(child.pid)
  const send = (message: object) => {
    if (child.connected) child.send(message, () => {})
  }
  const [file, ...args] = words
  send({ type: 'start', file, args, environment, descriptors, ways })
  const stopForwarding = forwardSignals((signal) => send({ type: 'signal', signal }), atTerminal)
  const ended = Promise.withResolvers<ChildExit>()
  child.on('message', (message: SandboxEnd | ClosedWay) => {
    if (message.type === 'closed') return command.warn(closedLine(message))
    const { code = KILLED, error } = message
    ended.resolve(error ? cannotRun(file, Object.assign(new Error(error.message), { code: error.code })) : { code })
  })
  child.once('error', (error) => ended.resolve(cannotRun('bwrap', error)))
  // With nothing said before.
  child.once('disconnect', () => ended.resolve({ code: KILLED }))
  child.once('close', () => ended.resolve({ code: KILLED }))
  return ended.promise.finally(stopForwarding)
}

function startFirst({ sandbox, firstProcess, descriptors, environment, shown, own }: SandboxedCommand): ChildProcess {
  const channelAt = Math.max(2, ...descriptors) + 1
  const filterAt = channelAt + 1
  const { filter } = sandbox
  const [file, ...args] = sandbox.enclosed(firstProcess, { shown, own, ...(filter && { filterAt }) })
  const child = spawn(file, args, {
    env: { PATH: environment['PATH'] },
    stdio: [...standardAnd(descriptors), 'ipc', ...(filter ? (['pipe'] as const) : [])],
  })
  const pipe = child.stdio[filterAt] as Writable | null | undefined
  pipe?.on('error', () => {})
  pipe?.end(filter)
  return child
}
