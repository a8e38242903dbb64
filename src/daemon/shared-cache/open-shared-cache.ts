import { randomUUID } from 'node:crypto'
import type { Redis, RedisOptions } from 'ioredis'
import type { Secret } from '../../protocol/index.ts'
import { addressOf } from './redis-address.ts'
import { whyAway } from './shared-cache-failure.ts'

/** Something kept for a while. Of several writings of one name the one of the highest revision stays. */
interface Entry {
  readonly revision: number
  readonly value: Buffer
}

export interface SharedCache {
  /** Undefined where there is none, and where Redis is away. */
  get(name: string): Promise<Entry | undefined>
  /** Keeps it unless there is one as new. Where Redis is away, it is not kept. @param keepMs milliseconds */
  put(name: string, entry: Entry, keepMs: number): Promise<void>
  /** Removes it, unless there is one that is newer than `revision`. */
  remove(name: string, revision: number): Promise<void>
  /** Tells all daemons that listen, this one too, that there is news. */
  tell(): void
  /** Passes a message on to all daemons that listen, this one too. Lost where Redis is away, and at who is not there. */
  pass(message: Buffer): void
  /** Hears, from now on, what is passed on. */
  hear(listener: (message: Buffer) => void): void
  /** Pings, and writes. One sentence for people on what is wrong; undefined where all is well. */
  problem(): Promise<string | undefined>
  close(): Promise<void>
}

export interface SharedCacheOptions {
  /** `redis://…` or `rediss://…`, checked. */
  readonly url: Secret
  /** Called when there may be news: it is told, or some may have been missed. */
  readonly onNews: () => void
  /** Told, in a sentence of ours, when Redis goes away and when it is back. */
  readonly note: (what: string) => void
}

/** How long a connection, and a command, may take, in milliseconds: no request waits longer. */
const CONNECT_MS = 1000
const COMMAND_MS = 1000
/** After a failure nobody asks for so long, in milliseconds. */
const REST_MS = 1000
const LONGEST_RETRY_MS = 1000
const PREFIX = 'broker:'
const NEWS = `${PREFIX}news`
const MESSAGES = `${PREFIX}messages`
const CHECK_MS = 5000

const LIMITS = {
  lazyConnect: true,
  connectTimeout: CONNECT_MS,
  commandTimeout: COMMAND_MS,
  // What cannot be sent now is not sent later: whoever asked has gone on.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (times: number) => Math.min(50 * 2 ** times, LONGEST_RETRY_MS),
  // These ask for more rights than a user of a cache needs.
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
} as const satisfies RedisOptions

/** Keeps `ARGV[2]` for `ARGV[3]` ms unless what is there is of revision `ARGV[1]` or newer. */
const PUT = `local kept = redis.call('GET', KEYS[1])
if kept and tonumber(string.match(kept, '^%d+')) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

/** Removes what is there, unless it is newer than revision `ARGV[1]`. */
const REMOVE = `local kept = redis.call('GET', KEYS[1])
if kept and tonumber(string.match(kept, '^%d+')) > tonumber(ARGV[1]) then return 0 end
return redis.call('DEL', KEYS[1])`

/** Connects, or goes on without and tries again by itself. */
export async function openSharedCache(options: SharedCacheOptions): Promise<SharedCache> {
  const { Redis } = await import('ioredis')
  const { options: address, database } = addressOf(options.url)
  const connect = () => new Redis({ ...address, ...LIMITS })
  const cache = new RedisCache({ ...options, client: connect(), listener: connect(), database })
  await cache.open()
  return cache
}

interface Parts extends Pick<SharedCacheOptions, 'onNews' | 'note'> {
  readonly client: Redis
  readonly listener: Redis
  readonly database: number
}

class RedisCache implements SharedCache {
  readonly #parts: Parts
  /** Since it answered, and has the database. */
  #isThere = false
  #restsUntil = 0
  #why: string | undefined
  #isClosed = false
  #greeted: Promise<void> | undefined
  #hears: (message: Buffer) => void = () => undefined

  constructor(parts: Parts) {
    this.#parts = parts
    const { client, listener, onNews } = parts
    client.on('ready', () => {
      this.#greeted = this.#greet()
    })
    client.on('close', () => {
      this.#isThere = false
    })
    // Unheard, they would end the daemon.
    client.on('error', (error) => this.#failed(error))
    listener.on('error', () => undefined)
    listener.on('message', (channel: string, text: string) => {
      if (channel === NEWS) onNews()
      else this.#hears(Buffer.from(text, 'base64url'))
    })
    listener.on('ready', () => void this.#listen())
  }

  /** Waits for the first attempt alone. */
  async open(): Promise<void> {
    const { client, listener } = this.#parts
    listener.connect().catch(() => undefined)
    await client.connect().then(
      () => this.#greeted,
      (error: unknown) => this.#failed(error),
    )
  }

  /** A server that is frozen takes connections, too: it is there once it has answered. */
  async #greet(): Promise<void> {
    const { client, database } = this.#parts
    try {
      await client.select(database)
      this.#isThere = true
      this.#worked()
    } catch (error) {
      this.#failed(error)
    }
  }

  async #listen(): Promise<void> {
    const { listener, onNews } = this.#parts
    try {
      await listener.subscribe(NEWS, MESSAGES)
      // Nobody knows what was told meanwhile.
      onNews()
    } catch {
      // Whoever may not listen asks the store all the same.
    }
  }

  #worked(): void {
    this.#restsUntil = 0
    if (this.#why !== undefined) this.#parts.note('Redis can be used again')
    this.#why = undefined
  }

  #failed(error: unknown): void {
    if (this.#isClosed) return
    const why = whyAway(error)
    if (why !== this.#why) this.#parts.note(`Redis cannot be used: ${why}. Requests go on without it`)
    this.#why = why
    this.#restsUntil = performance.now() + REST_MS
    // What was not answered is not waited for on this connection any more.
    if (error instanceof Error && error.message === 'Command timed out') this.#parts.client.disconnect(true)
  }

  async #ask<Answer>(work: (client: Redis) => Promise<Answer>): Promise<Answer | undefined> {
    if (!this.#isThere || performance.now() < this.#restsUntil) return undefined
    try {
      return await work(this.#parts.client)
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  async get(name: string): Promise<Entry | undefined> {
    const text = await this.#ask((client) => client.get(PREFIX + name))
    const [, revision, value] = /^(\d+) (.*)$/.exec(text ?? '') ?? []
    if (revision === undefined || value === undefined) return undefined
    return { revision: Number(revision), value: Buffer.from(value, 'base64url') }
  }

  async put(name: string, { revision, value }: Entry, keepMs: number): Promise<void> {
    const text = `${revision} ${value.toString('base64url')}`
    const keep = Math.max(1, Math.ceil(keepMs))
    await this.#ask((client) => client.eval(PUT, 1, PREFIX + name, revision, text, keep))
  }

  async remove(name: string, revision: number): Promise<void> {
    await this.#ask((client) => client.eval(REMOVE, 1, PREFIX + name, revision))
  }

  tell(): void {
    void this.#ask((client) => client.publish(NEWS, ''))
  }

  pass(message: Buffer): void {
    void this.#ask((client) => client.publish(MESSAGES, message.toString('base64url')))
  }

  hear(listener: (message: Buffer) => void): void {
    this.#hears = listener
  }

  async problem(): Promise<string | undefined> {
    const { client } = this.#parts
    if (this.#isThere) {
      try {
        await client.ping()
        await client.set(`${PREFIX}check:${randomUUID()}`, '', 'PX', CHECK_MS)
        this.#worked()
        return undefined
      } catch (error) {
        this.#failed(error)
      }
    }
    return `Redis cannot be used: ${this.#why ?? 'it does not answer'}. Requests go on without it.`
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#parts.client.disconnect()
    this.#parts.listener.disconnect()
  }
}
