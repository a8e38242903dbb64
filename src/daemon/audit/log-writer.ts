import { Worker } from 'node:worker_threads'
import type { Beside, Store } from '../store/index.ts'
import { appendRows, type NewRow } from './append-rows.ts'

/** What the thread is given: rows to store, or the word that there are no more. */
export type Given = readonly NewRow[] | 'end'
/** What it says: that it can begin, and what became of the rows. */
export type Told = 'ready' | 'stored' | 'not stored'

export interface LogWriter {
  /** Rows that it stores at once with least trouble for whoever waits. */
  readonly most: number
  /** Stores all of them or none. */
  store(rows: readonly NewRow[]): Promise<void>
  close(): Promise<void>
}

/** On the thread that answers: few it is, as requests wait for their credentials meanwhile, a few times over. */
const MOST_HERE = 16
/** On its own. A row costs a third of what it does among sixteen; and a change of the vault waits no longer than for these. */
const MOST_THERE = 128
/** Others wait for the locks of a transaction on Postgres. */
const MOST_ON_POSTGRES = 250

/** A writer on the thread that answers. */
export function writeHere(store: Store): LogWriter {
  return {
    most: store.dialect === 'sqlite' ? MOST_HERE : MOST_ON_POSTGRES,
    store: (rows) => store.addition((tx) => appendRows(tx, store.dialect, rows)),
    close: async () => undefined,
  }
}

/**
 * A writer with a thread of its own, which it starts when more comes at once than it should store on the one that answers:
 * most daemons never need it. What the thread cannot store is tried here, where it is known what the matter is.
 */
export function writeBeside(store: Store, beside: Beside): LogWriter {
  const here = writeHere(store)
  let thread: LogThread | undefined
  return {
    get most() {
      return thread?.isReady ? MOST_THERE : MOST_HERE
    },
    async store(rows) {
      if (rows.length >= MOST_HERE) thread ??= new LogThread(beside.path)
      const running = thread
      if (running?.isReady && (await beside.inTurn(() => running.store(rows)))) return
      await here.store(rows)
    },
    async close() {
      await thread?.close()
    },
  }
}

class LogThread {
  readonly #worker: Worker
  #isReady = false
  /** Of the rows that it has. */
  #told: ((wereStored: boolean) => void) | undefined
  readonly #ended = Promise.withResolvers<void>()

  constructor(path: string) {
    this.#worker = new Worker(new URL('./log-thread.ts', import.meta.url), { workerData: path })
    this.#worker.unref()
    this.#worker.on('message', (told: Told) => this.#hear(told))
    // Nothing is lost: the rows are tried on the first connection.
    this.#worker.on('error', () => undefined)
    this.#worker.on('exit', () => this.#end())
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** Resolves to whether they were. One call at a time. */
  store(rows: readonly NewRow[]): Promise<boolean> {
    return new Promise((resolve) => {
      if (!this.#isReady) {
        resolve(false)
        return
      }
      this.#told = resolve
      this.#worker.postMessage(rows satisfies Given)
    })
  }

  async close(): Promise<void> {
    this.#worker.postMessage('end' satisfies Given)
    await this.#ended.promise
  }

  #hear(told: Told): void {
    if (told === 'ready') this.#isReady = true
    else this.#settle(told === 'stored')
  }

  #settle(wereStored: boolean): void {
    const told = this.#told
    this.#told = undefined
    told?.(wereStored)
  }

  #end(): void {
    this.#isReady = false
    this.#settle(false)
    this.#ended.resolve()
  }
}
