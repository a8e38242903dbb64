import type { NodeVersion, PackageSet } from './packages.ts'

/** One row of the matrix: a program as somebody runs it behind Broker, and nothing set for it by hand. */
export interface Client {
  readonly name: string
  /** What it runs in, where that makes rows of its own: `Node 20`, `Python`. */
  readonly runtime: string
  /** Or the command that prints it. */
  readonly version: string | readonly string[]
  /** First on the `PATH`. */
  readonly node?: NodeVersion
  /** Its modules are in the folder, as after `npm install`. */
  readonly packages?: PackageSet
  /** Their programs are on the `PATH`. */
  readonly tools?: readonly PackageSet[]
  /** Programs, or files, of the system by their full path, and the Debian packages that bring them. */
  readonly programs?: Readonly<Record<string, string>>
  /** Packages from an index of Python's, which may not be reachable. */
  readonly wheels?: readonly string[]
  /** Files of `programs/` that are copied into its folder. */
  readonly files?: readonly string[]
  /** Further files of its folder, by their path. */
  readonly texts?: Texts
  /** Files of its home, by their path. */
  readonly home?: Texts
  readonly command: readonly string[]
  /** Run twice in the same home, where the first run may leave something behind. */
  readonly twice?: true
  /** In a terminal, on these terms; else without one. */
  readonly terminal?: Terminal
  /** What it prints when it was let in. */
  readonly shows: RegExp
  /** Whether it shows a stream piece by piece. */
  readonly streams: boolean
  /** Why it is known not to work; such a row is expected to fail. */
  readonly fails?: string
  readonly note?: string
}

/** Texts by the path of their file. */
export type Texts = Readonly<Record<string, string>> | ((place: Place) => Readonly<Record<string, string>>)

/** Where a client runs. */
export interface Place {
  readonly folder: string
  readonly home: string
  readonly temporary: string
}

interface Terminal {
  /** What is pressed whenever the screen begins to show this. */
  readonly answers: readonly (readonly [shown: RegExp, keys: readonly string[]])[]
  /** What is pressed, one after the other, to leave. */
  readonly leave: readonly string[]
}

export const STATUS = /^status (?:200|101)\b/m
