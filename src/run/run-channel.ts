import type { FromProxy, StartProxy, ToProxy } from './messages.ts'

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
  process.on('message', (message: ToProxy) => {
    if (message.type === 'start') started.resolve(message.start)
    else if (message.type === 'describe') description.resolve(message.description)
    else if (message.type === 'child_started') childStarted.resolve(message.pid)
    else childEnded.resolve(message.exitCode)
  })
  process.once('disconnect', () => {
    started.resolve(undefined)
    childEnded.resolve(undefined)
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      started.resolve(undefined)
      asked.resolve('asked')
    })
  }
  return {
    started: started.promise,
    description: description.promise,
    childStarted: childStarted.promise,
    childEnded: childEnded.promise,
    asked: asked.promise,
    send: (message) => {
      // That the other end has gone is heard by `disconnect`.
      if (process.connected) process.send?.(message, () => {})
    },
    close: () => {
      if (process.connected) process.disconnect?.()
    },
  }
}
