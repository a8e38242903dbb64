/** How much of the machine a command does not see, from nothing up. */
export type IsolationLevel = 'none' | 'shield' | 'sandbox'

/** Why a level cannot be had here; the message is one clause, for people. */
export class IsolationUnavailable extends Error {
  override readonly name = 'IsolationUnavailable'
}

/** What starts a command in a sandbox. */
export interface Sandbox {
  /** The words that start a program in it. */
  enclosed(command: readonly [string, ...string[]], place: SandboxPlace): readonly [string, ...string[]]
  /** The program that starts the command inside, and is told what by its channel; undefined where the command starts by itself. */
  readonly firstProcess: readonly [string, ...string[]] | undefined
  /** System calls that are refused, as bubblewrap reads them. */
  readonly filter: Buffer | undefined
}

/** What of a sandbox is known when its run is. */
interface SandboxPlace {
  /** Folders that the command may read besides, and such as it may write. */
  readonly shown?: readonly string[]
  readonly own?: readonly string[]
  /** Ports of the run's proxy. */
  readonly reached?: readonly number[]
  /** The descriptor that the filter is read from. */
  readonly filterAt?: number
}

/** A way out of a sandbox, as the first program in it opens it. */
export interface SandboxWay {
  /** Where it listens inside. */
  readonly host: string
  readonly port: number
  /** The socket of the run that it leads to, where the sandbox sees it. */
  readonly socket: string
  /** Host and port that the proxy there is asked for. */
  readonly target?: string
  /** The other way about: what listens there inside is reached from outside. */
  readonly offers?: true
}

/** A place that a command can be started in. */
export interface Enclosure {
  readonly level: IsolationLevel
  /** The words that start a command there, as the process that is started. */
  enclosed(command: readonly [string, ...string[]]): readonly [string, ...string[]]
  /** Lets go of what kept it: commands that run there go on. */
  release(): void
}
