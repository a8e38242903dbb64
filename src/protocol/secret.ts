import { hash, timingSafeEqual } from 'node:crypto'
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

  /** In a time that tells neither content nor length: the hashes are compared. False where there is no other. */
  equals(other: Secret | undefined): boolean {
    return other !== undefined && timingSafeEqual(digest(this.#value), digest(other.#value))
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

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

/** What somebody typed, pasted or piped, by the name of the field. */
export type SecretInput = Readonly<Record<string, Secret>>

/** Input as it came in: a secret from here on. */
export function secretInput(input: Readonly<Record<string, string>>): SecretInput {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, new Secret(value)]))
}
