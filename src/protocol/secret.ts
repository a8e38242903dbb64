import { inspect } from 'node:util'

const REDACTED = '[redacted]'

/**
 * A string that cannot be printed. Everything that turns a value into text (`String()`, `JSON.stringify`, template
 * literals, `console.log`, `util.inspect`) sees `[redacted]`; only {@link Secret.reveal} gives the characters, and the
 * files that may call it are listed in `tools/reveal-list.ts`.
 */
export class Secret {
  #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The characters themselves. Every call site is on the reveal list. */
  reveal(): string {
    return this.#value
  }

  /** Whether both have the same characters. In a time that depends on them: not for what somebody else may guess at. */
  equals(other: Secret): boolean {
    return this.#value === other.#value
  }

  /** Lets go of the characters, once nobody needs them: what is long-lived would keep them in memory. */
  forget(): void {
    this.#value = ''
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
