import { BrokerError } from '../../protocol/index.ts'

/** In whose name work waits: those of one line are served in their order, lines of a class in turn. */
export interface Line {
  /** Every other place is for known browsers, as long as one waits. */
  readonly kind: 'known' | 'strange'
  readonly name: string
}

export interface FairQueueOptions {
  /** How much is worked on at a time. */
  readonly places: number
  /** How many may wait of each class, and in one line. */
  readonly queue: number
  readonly line?: number
}

interface Waiting {
  readonly go: () => void
  readonly giveUp: () => void
}

/**
 * Work that takes much of the machine, a little of it at a time. Nobody waits behind another's crowd: lines are served in
 * turn, and where too many wait, the longest line gives way to a shorter one.
 */
export class FairQueue {
  readonly #places: number
  readonly #lines: Readonly<Record<Line['kind'], Lines>>
  #running = 0
  #next: Line['kind'] = 'known'

  constructor({ places, queue, line = 32 }: FairQueueOptions) {
    this.#places = places
    this.#lines = { known: new Lines(queue, line), strange: new Lines(queue, line) }
  }

  /** @throws BrokerError RateLimitedError before any of the work, where too many wait already */
  async run<Result>(line: Line, work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#places) await this.#turn(line)
    else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#nextWaiting()
      if (next) next.go()
      else this.#running -= 1
    }
  }

  #turn({ kind, name }: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#lines[kind].add(name, { go: resolve, giveUp: () => reject(tooMany()) })
    })
  }

  #nextWaiting(): Waiting | undefined {
    const first = this.#next
    const other = first === 'known' ? 'strange' : 'known'
    this.#next = other
    return this.#lines[first].shift() ?? this.#lines[other].shift()
  }
}

class Lines {
  readonly #most: number
  readonly #mostOfOne: number
  /** In the order in which they are served: a line that was goes behind the others. */
  readonly #waiting = new Map<string, Waiting[]>()
  #count = 0

  constructor(most: number, mostOfOne: number) {
    this.#most = most
    this.#mostOfOne = mostOfOne
  }

  add(name: string, waiting: Waiting): void {
    const line = this.#waiting.get(name) ?? []
    const isFull = this.#count >= this.#most
    if (line.length >= this.#mostOfOne || (isFull && !this.#makeRoom(line.length))) {
      waiting.giveUp()
      return
    }
    line.push(waiting)
    this.#waiting.set(name, line)
    this.#count += 1
  }

  shift(): Waiting | undefined {
    const [first] = this.#waiting
    if (!first) return undefined
    const [name, line] = first
    const next = line.shift()
    this.#waiting.delete(name)
    if (line.length > 0) this.#waiting.set(name, line)
    this.#count -= 1
    return next
  }

  /** False where no line would still be the longer one without its last. */
  #makeRoom(length: number): boolean {
    const lines = [...this.#waiting]
    const [name, longest] = lines.reduce((one, two) => (two[1].length > one[1].length ? two : one))
    if (longest.length <= length + 1) return false
    longest.pop()?.giveUp()
    if (longest.length === 0) this.#waiting.delete(name)
    this.#count -= 1
    return true
  }
}

function tooMany(): BrokerError {
  return new BrokerError('RateLimitedError', 'Too many people sign in at this moment', { retryAfter: 5 })
}
