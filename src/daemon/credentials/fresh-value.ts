import { BrokerError } from '../../protocol/index.ts'
import type { RefreshCause } from '../connections/index.ts'

/** A token with its times, in milliseconds since 1970; absent where it does not end, or nothing can take its place. */
export interface Dated<Value> {
  readonly value: Value
  /** Another one has another. */
  readonly version: number
  /** When the next is got, while this one is handed out. */
  readonly dueAt?: number
  /** From when on it would end on its way. */
  readonly usableUntil?: number
  readonly expiresAt?: number
}

/** A value that ends, wherever it is kept. */
export interface Renewable<At extends Dated<unknown> | undefined> {
  /** The one that is kept by now. */
  read(): Promise<At>
  /**
   * Resolves when another than the version that was seen is stored, whoever got it.
   * @throws BrokerError where there is none this time
   */
  renew(seen: number, cause: Exclude<RefreshCause, 'revoke'>): Promise<void>
  now(): number
}

/** Of a value that is not there yet. */
export const NO_VERSION = 0

/**
 * The value, as long as it has not ended. One that ends soon is handed out, and renewed meanwhile; one that its host has
 * refused is renewed first, and handed out again where that does not work.
 * @param first as it was read already
 * @throws BrokerError as {@link Renewable.renew}, where no value is left
 */
export async function freshValue<At extends Dated<unknown> | undefined>(
  { read, renew, now }: Renewable<At>,
  first: At,
  rejectedVersion: number | undefined,
): Promise<At> {
  if (first === undefined) {
    await renew(NO_VERSION, 'due')
    return read()
  }
  const { version, dueAt = NEVER, usableUntil = NEVER, expiresAt = NEVER } = first
  if (version === rejectedVersion) {
    await renew(version, now() < usableUntil ? 'rejected' : 'due').catch(ifItServesOn)
  } else if (now() < dueAt) {
    return first
  } else if (now() < usableUntil) {
    // Whoever renews hears of what goes wrong.
    renew(version, 'due').catch(() => undefined)
    return first
  } else {
    await renew(version, 'due').catch((error: unknown) => {
      if (now() < expiresAt) ifItServesOn(error)
      else throw error
    })
  }
  return read()
}

const NEVER = Number.POSITIVE_INFINITY

/** What failed this time leaves the value at hand as good as it was; a bug is no such failure. */
function ifItServesOn(error: unknown): void {
  if (!(error instanceof BrokerError)) throw error
}
