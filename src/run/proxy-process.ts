import { BrokerError, Secret } from '../protocol/index.ts'
import type { Routes, Run, StartRun } from '../schemas/index.ts'
import type { LeftProcess } from './descendants.ts'
import {
  errorOf,
  type FromProxy,
  type ListeningProxy,
  outcomeOf,
  type RunKey,
  type StartProxy,
  type ToOuterRun,
} from './messages.ts'
import type { RunDescription } from './outer-run.ts'

/** How the run ended for its proxy. */
export type RunEnd =
  /** The proxy has stopped; `isTold` says whether the daemon knows. */
  | { readonly kind: 'ended'; readonly isTold: boolean }
  | { readonly kind: 'stays'; readonly left: readonly LeftProcess[] }
  /** The process of the proxy is gone, or has nothing more to say. */
  | { readonly kind: 'lost' }

/** A process with a channel, or what stands for one. */
export interface ProxyConnection {
  readonly connected: boolean
  on(event: 'message', listener: (message: FromProxy) => void): unknown
  once(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
  removeAllListeners(event: 'message'): unknown
  send(message: ToOuterRun, sent: () => void): boolean
  disconnect(): void
  unref(): void
}

/** The process of a proxy, started with a channel before anybody listened, and what it has said since. */
export interface StartedProxy {
  readonly child: ProxyConnection
  readonly said: readonly FromProxy[]
}

/**
 * The process of a run's proxy, as `broker run` sees it. Every promise rejects with the BrokerError that the process
 * tells, or with InternalError where it ends unasked.
 */
export class ProxyProcess {
  readonly #child: ProxyConnection
  readonly #begun = Promise.withResolvers<Run>()
  readonly #key = Promise.withResolvers<RunKey>()
  readonly #routes = Promise.withResolvers<Routes>()
  readonly #listening = Promise.withResolvers<ListeningProxy>()
  readonly #end = Promise.withResolvers<RunEnd>()

  #register = (_request: StartRun): Promise<Run> =>
    Promise.reject(new BrokerError('OperationNotAllowedError', 'Nothing may be started within this run'))

  constructor({ child, said }: StartedProxy) {
    this.#child = child
    for (const { promise } of [this.#key, this.#begun, this.#routes, this.#listening]) promise.catch(() => {})
    for (const message of said) this.#heard(message)
    child.removeAllListeners('message')
    this.#child.on('message', (message: FromProxy) => this.#heard(message))
    this.#child.once('error', (error) => this.#fail(unexpectedEnd(error)))
    this.#child.once('disconnect', () => this.#fail(unexpectedEnd()))
    if (!child.connected) this.#fail(unexpectedEnd())
  }

  get key(): Promise<RunKey> {
    return this.#key.promise
  }

  /** Returns what may be injected. */
  get routes(): Promise<Routes> {
    return this.#routes.promise
  }

  get listening(): Promise<ListeningProxy> {
    return this.#listening.promise
  }

  /** Has the run around this one begin it; only what makes it smaller counts. */
  begin(request: Partial<StartRun>): Promise<Run> {
    this.#tell({ type: 'begin', request })
    return this.#begun.promise
  }

  /** Registers the runs that the command asks for, each as the agent of this one. */
  registerInner(register: (request: StartRun) => Promise<Run>): void {
    this.#register = register
  }

  start(start: StartProxy): void {
    this.#tell({ type: 'start', start })
  }

  /** What it is to tell a run that is started within this one. */
  describe(description: RunDescription): void {
    this.#tell({ type: 'describe', description: JSON.stringify(description) })
  }

  childStarted(pid: number): void {
    this.#tell({ type: 'child_started', pid })
  }

  /** Resolves as {@link childEnded} does, or before where the proxy does not live for as long as the child. */
  get end(): Promise<RunEnd> {
    return this.#end.promise
  }

  /** Resolves once the proxy has stopped, or has said that it stays for what the child left behind. */
  async childEnded(exitCode: number): Promise<RunEnd> {
    this.#tell({ type: 'child_ended', exitCode })
    return await this.#end.promise
  }

  /** Lets go of it; a proxy whose child has not ended yet stays for as long as processes of the run are left. */
  release(): void {
    if (this.#child.connected) this.#child.disconnect()
    this.#child.unref()
  }

  #tell(message: ToOuterRun): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }

  #heard(message: FromProxy): void {
    switch (message.type) {
      case 'key':
        this.#key.resolve(message)
        break
      case 'routes':
        this.#routes.resolve(message.routes)
        break
      case 'listening':
        this.#listening.resolve({ ...message.listening, password: new Secret(message.listening.password) })
        break
      case 'failed':
        this.#fail(errorOf(message.failure))
        break
      case 'begun':
        this.#begun.resolve(message.run)
        break
      case 'register':
        void outcomeOf(this.#register(message.request)).then((outcome) =>
          this.#tell({ type: 'registered', id: message.id, ...outcome }),
        )
        break
      case 'ended':
        this.#end.resolve({ kind: 'ended', isTold: message.isTold })
        break
      case 'stays':
        this.#end.resolve({ kind: 'stays', left: message.left })
    }
  }

  #fail(error: BrokerError): void {
    this.#key.reject(error)
    this.#begun.reject(error)
    this.#routes.reject(error)
    this.#listening.reject(error)
    this.#end.resolve({ kind: 'lost' })
  }
}

function unexpectedEnd(cause?: Error): BrokerError {
  return new BrokerError('InternalError', 'The proxy of this run ended before it should', {
    ...(cause && { cause }),
    hint: 'Run it again; `broker log --raw` shows what led to it.',
  })
}
