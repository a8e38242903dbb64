import type { Refusal } from './refusal.ts'

/** Why there is no connection. `refusal` is what the child is told. */
export class DialError extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.message, { cause })
    this.refusal = refusal
  }
}
