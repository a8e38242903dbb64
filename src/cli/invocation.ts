import type { Config } from '../config/index.ts'
import type { StartedProxy } from '../run/index.ts'
import type { DebugLog } from './debug-log.ts'
import type { Output } from './output.ts'
import type { Terminal } from './terminal.ts'

/** What a command gets beside its own arguments: what was configured, and where it may speak. */
export interface Invocation {
  readonly config: Config
  readonly output: Output
  readonly log: DebugLog
  /** Where the log is written; undefined where the user switched it off. */
  readonly logFile: string | undefined
  readonly terminal: Terminal
  /** The process of the run's proxy, where it was started before all else. */
  readonly runProxy?: StartedProxy
  readonly quiet: boolean
  /** Of this command line. */
  readonly version: string
  /** The configuration as it is with another daemon to call. */
  readonly configFor: (baseUrl: string) => Config
}
