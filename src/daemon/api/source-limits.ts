import { LRUCache } from 'lru-cache'
import { BrokerError } from '../../protocol/index.ts'
import type { SourceLimit } from '../../schemas/index.ts'

/**
 * What one source may ask of a hosted daemon before it has said who it is: so many at once, then so many a minute.
 * Many people may share a source. Sign-ins are not here: the accounts count them, and let known browsers past.
 */
const LIMITS = {
  /** New identities and accounts. */
  registrations: { burst: 60, perMinute: 6 },
  /** Pages that an unguessable id or a link opens, and what they post. */
  pages: { burst: 120, perMinute: 60 },
  /** An agent that waits to be claimed asks every two seconds. */
  polls: { burst: 300, perMinute: 300 },
  /** Passphrases: each costs half a second of a core, too. */
  unlocks: { burst: 10, perMinute: 6 },
} as const satisfies Record<SourceLimit, object>

interface Bucket {
  readonly left: number
  /** Milliseconds. */
  readonly at: number
}

const MOST_REMEMBERED = 20_000

/** Token buckets, in this daemon's memory: they keep it from work, they guard nothing that is counted elsewhere. */
export class SourceLimits {
  readonly #buckets = new LRUCache<string, Bucket>({ max: MOST_REMEMBERED })
  readonly #now: () => number
  readonly #counted: ReadonlySet<SourceLimit>

  /**
   * @param now a clock that never goes back
   * @param counted what is counted; all where absent
   */
  constructor(now: () => number = () => performance.now(), counted = Object.keys(LIMITS) as readonly SourceLimit[]) {
    this.#now = now
    this.#counted = new Set(counted)
  }

  /** @throws BrokerError RateLimitedError */
  take(limit: SourceLimit, source: string): void {
    if (!this.#counted.has(limit)) return
    const { burst, perMinute } = LIMITS[limit]
    const key = `${limit} ${source}`
    const now = this.#now()
    const { left: before, at } = this.#buckets.get(key) ?? { left: burst, at: now }
    const left = Math.min(burst, before + ((now - at) / 60_000) * perMinute)
    if (left < 1) throw tooMany(Math.ceil(((1 - left) / perMinute) * 60))
    this.#buckets.set(key, { left: left - 1, at: now })
  }
}

function tooMany(retryAfter: number): BrokerError {
  return new BrokerError('RateLimitedError', `Too many requests from this address; try again in ${retryAfter} s`, {
    retryAfter,
  })
}
