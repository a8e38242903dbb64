import type { SandboxWay } from '../isolation/index.ts'
import { BrokerError, type BrokerErrorOptions, type ErrorName, type Secret } from '../protocol/index.ts'
import type { Overrides, Routes, Run, StartRun } from '../schemas/index.ts'
import type { LeftProcess } from './descendants.ts'
import type { TrustFiles } from './trust-files.ts'

/** From `broker run` to the process of its proxy, over the channel that both were born with. */
export type ToProxy =
  | { readonly type: 'start'; readonly start: StartProxy }
  /** JSON of a {@link RunDescription}. */
  | { readonly type: 'describe'; readonly description: string }
  | { readonly type: 'child_started'; readonly pid: number }
  | { readonly type: 'child_ended'; readonly exitCode: number }
  | ({ readonly type: 'registered'; readonly id: number } & RegisteredRun)

/** What a `broker run` in the command of a run sends: what it would tell a proxy of its own, and first which run it wants. */
export type ToOuterRun = ToProxy | { readonly type: 'begin'; readonly request: Partial<StartRun> }

/** What became of the start of a run within this one. */
export type RegisteredRun = { readonly run: Run } | { readonly failure: Failure }

/** What the proxy's process cannot know by itself. */
export interface StartProxy {
  readonly runId: string
  /** The identity that started the run. */
  readonly handle: string
  readonly strict: boolean
  /** Whether the command is a browser, or starts one: they cannot present proxy credentials by themselves. */
  readonly hasBrowser: boolean
  /** File of the client's debug log; undefined switches it off. */
  readonly logFile: string | undefined
  /** What stands around the command. */
  readonly isolation: NonNullable<StartRun['isolation']>
  /** Folder for the sockets by which the command reaches Broker; none where it is undefined. */
  readonly socketFolder: string | undefined
  /** Where the command sees that folder. */
  readonly seenFolder: string | undefined
  /** Folder in which the run's own is made, where that is not the one for temporary files. */
  readonly parentFolder?: string
  /** Hosts that are tunnelled whatever `strict` says. */
  readonly allowed: readonly AllowedHost[]
  /** Ports of this machine that a sandbox shares. */
  readonly ports: readonly number[]
}

/** A host that the user allowed. */
export interface AllowedHost {
  readonly host: string
  /** Any where absent. */
  readonly port?: number
  /** The loopback address that it has in the sandbox, where it has a name. */
  readonly address?: string
}

export type FromProxy =
  | ({ readonly type: 'key' } & RunKey)
  | { readonly type: 'routes'; readonly routes: Routes }
  | { readonly type: 'listening'; readonly listening: OnTheWire<ListeningProxy> }
  | { readonly type: 'failed'; readonly failure: Failure }
  /** The command asks for a run within this one, which the agent of the run has to sign. */
  | { readonly type: 'register'; readonly id: number; readonly request: StartRun }
  /** The run that was asked for has begun. */
  | { readonly type: 'begun'; readonly run: Run }
  /** The proxy has stopped; `isTold` says whether the daemon took the end of the run from it. */
  | { readonly type: 'ended'; readonly isTold: boolean }
  /** Processes that the command left behind keep the proxy. */
  | { readonly type: 'stays'; readonly left: readonly LeftProcess[] }

/** What the daemon is told of the proxy before the run is there. */
export interface RunKey {
  /** did:key */
  readonly did: string
  /** What of the proxy is not the machine's own. */
  readonly overrides?: Overrides
}

/** All that the child has to be told of its proxy. */
export interface ListeningProxy {
  readonly port: number
  readonly username: string
  /** Of this run alone: in the environment of its child, and nowhere else. */
  readonly password: Secret
  /** Port of the listener without credentials, where one was asked for and can be had. */
  readonly openPort: number | undefined
  /** Undefined where nothing is intercepted. */
  readonly trust: TrustFiles | undefined
  /** base64 of the SHA-256 of the public key that the run's certificates are for; undefined as above. */
  readonly keyPin: string | undefined
  /** The run's own folder, for its child and nobody else. */
  readonly folder: string
  /** Folder where the child finds the sockets of its run, where it has them. */
  readonly seenFolder: string | undefined
  /** The ways out of its sandbox, where it is in one. */
  readonly ways: readonly SandboxWay[]
}

/** Channels carry JSON: a secret is its characters there. */
export type OnTheWire<Shape> = { readonly [Name in keyof Shape]: Shape[Name] extends Secret ? string : Shape[Name] }

/** An error as a message. */
export interface Failure {
  readonly name: ErrorName
  readonly message: string
  readonly options: BrokerErrorOptions
}

export function failureOf(error: unknown): Failure {
  if (error instanceof BrokerError) {
    const { cause: _, ...options } = error.options
    return { name: error.name, message: error.message, options }
  }
  return { name: 'InternalError', message: error instanceof Error ? error.message : String(error), options: {} }
}

export function errorOf({ name, message, options }: Failure): BrokerError {
  return new BrokerError(name, message, options)
}

/** What became of the start of a run. */
export async function outcomeOf(asked: Promise<Run>): Promise<RegisteredRun> {
  try {
    return { run: await asked }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}
