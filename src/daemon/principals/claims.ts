import { createHash, randomBytes } from 'node:crypto'
import type { Store } from '../store/index.ts'

interface OpenClaim {
  readonly url: string
  /** ISO-8601. */
  readonly expiresAt: string
}

const LIFETIME_MS = 10 * 60 * 1000

/** Invitations to claim an identity: random, single use, dead after ten minutes (contract section 5). */
export class Claims {
  readonly #store: Store
  readonly #baseUrl: string
  readonly #now: () => number
  // The store keeps hashes alone; whoever asks again within the claim's life is told the same URL.
  readonly #open = new Map<string, OpenClaim>()

  constructor(store: Store, baseUrl: string, now: () => number) {
    this.#store = store
    this.#baseUrl = baseUrl
    this.#now = now
  }

  /** The claim that is open for this identity, or a new one. */
  async open(handle: string): Promise<OpenClaim> {
    for (const [name, { expiresAt }] of this.#open) if (Date.parse(expiresAt) <= this.#now()) this.#open.delete(name)
    const known = this.#open.get(handle)
    if (known) return known
    const token = randomBytes(20).toString('base64url')
    const expiresAt = new Date(this.#now() + LIFETIME_MS).toISOString()
    await this.#replace(handle, token, expiresAt)
    const claim = { url: `${this.#baseUrl}/api/claim/${token}`, expiresAt }
    this.#open.set(handle, claim)
    return claim
  }

  async #replace(handle: string, token: string, expires_at: string): Promise<void> {
    const token_hash = createHash('sha256').update(token).digest('hex')
    await this.#store.transaction(async (tx) => {
      await tx.deleteFrom('claims').where('handle', '=', handle).execute()
      await tx.insertInto('claims').values({ token_hash, handle, expires_at }).execute()
    })
  }
}
