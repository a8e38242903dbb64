/** How much of the machine a command does not see, from nothing up. */
export type IsolationLevel = 'none' | 'shield' | 'sandbox'

/** Why a level cannot be had here; the message is one clause, for people. */
export class IsolationUnavailable extends Error {
  override readonly name = 'IsolationUnavailable'
}

/** A place that a command can be started in. */
export interface Enclosure {
  readonly level: IsolationLevel
  /** The words that start a command there, as the process that is started. */
  enclosed(command: readonly [string, ...string[]]): readonly [string, ...string[]]
  /** Lets go of what kept it: commands that run there go on. */
  release(): void
}
