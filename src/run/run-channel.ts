import { BrokerError } from '../protocol/index.ts'
import type { Run, StartRun } from '../schemas/index.ts'
import { errorOf, type FromProxy, type StartProxy, type ToProxy } from './messages.ts'

/** What `broker run` tells its proxy's process, each when it comes. */
export interface RunChannel {
  /** Undefined where `broker run` ended before. */
  readonly started: Promise<StartProxy | undefined>
  /** JSON for a run that is started within this one; it comes before the child starts. */
  readonly description: Promise<string>
  readonly childStarted: Promise<number>
  /** The child's exit code; undefined where `broker run` ended before it told one. */
  readonly childEnded: Promise<number | undefined>
  /** Settled once the system, or somebody, asks this process to end. */
  readonly asked: Promise<'asked'>
  /** Has the agent of this run sign the start of one within it. @throws BrokerError */
  register(request: StartRun): Promise<Run>
  /** Nothing where nobody listens any more. */
  send(message: FromProxy): void
  close(): void
}

/** The channel that this process was born with. */
export function openRunChannel(): RunChannel {
  const started = Promise.withResolvers<StartProxy | undefined>()
  const description = Promise.withResolvers<string>()
  const childStarted = Promise.withResolvers<number>()
  const childEnded = Promise.withResolvers<number | undefined>()
  const asked = Promise.withResolvers<'asked'>()
  const registrations = new Registrations()
  process.on('message', (message: ToProxy) => {
    if (message.type === 'registered') registrations.settle(message)
    else if (message.type === 'start') started.resolve(message.start)
    else if (message.type === 'describe') description.resolve(message.description)
    else if (message.type === 'child_started') childStarted.resolve(message.pid)
    else childEnded.resolve(message.exitCode)
  })
  process.once('disconnect', () => {
    started.resolve(undefined)
    childEnded.resolve(undefined)
    registrations.end()
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      started.resolve(undefined)
      asked.resolve('asked')
    })
  }
  const send = (message: FromProxy) => {
    // That the other end has gone is heard by `disconnect`.
    if (process.connected) process.send?.(message, () => {})
  }
  return {
    started: started.promise,
    description: description.promise,
    childStarted: childStarted.promise,
    childEnded: childEnded.promise,
    asked: asked.promise,
    register: (request) => registrations.ask(request, send),
    send,
    close: () => {
      if (process.connected) process.disconnect?.()
    },
  }
}

/** Starts of runs within this one that have no answer yet. */
class Registrations {
  readonly #asked = new Map<number, PromiseWithResolvers<Run>>()
  #last = 0
  #hasEnded = false

  ask(request: StartRun, send: (message: FromProxy) => void): Promise<Run> {
    const asked = Promise.withResolvers<Run>()
    this.#last += 1
    this.#asked.set(this.#last, asked)
    if (this.#hasEnded) this.end()
    else send({ type: 'register', id: this.#last, request })
    return asked.promise
  }

  settle(message: Extract<ToProxy, { type: 'registered' }>): void {
    const asked = this.#asked.get(message.id)
    this.#asked.delete(message.id)
    if ('run' in message) asked?.resolve(message.run)
    else asked?.reject(errorOf(message.failure))
  }

  /** Nobody is left who could sign. */
  end(): void {
    this.#hasEnded = true
    for (const { reject } of this.#asked.values()) {
      reject(
        new BrokerError('OperationNotAllowedError', 'The run around this one has ended', {
          hint: 'Start the outer command again with `broker run`.',
        }),
      )
    }
    this.#asked.clear()
  }
}
