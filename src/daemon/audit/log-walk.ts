import type { LogFinding } from '../../schemas/index.ts'
import type { AuditEventRow, Tables } from '../store/index.ts'
import { chainedHash } from './chain.ts'
import { chainIn } from './chain-of.ts'

/** Where a chain stands: its last event that was looked at. */
interface Tail {
  readonly seq: number
  readonly hash: string
}

/** An event that does not follow the one before it in its chain. */
interface Suspect {
  readonly row: AuditEventRow
  readonly before: Tail
  /** The one before that, where it was looked at. */
  readonly earlier: Tail | undefined
}

export interface LogWalkOptions {
  /** How each chain ends before the first event that is looked at. */
  readonly tails: ReadonlyMap<number, Tail>
  /** What was signed of each chain, from its beginning on. */
  readonly signed: ReadonlyMap<number, readonly Tail[]>
  /** Whether the log has each number. */
  readonly isDense: boolean
}

const NOTHING: Tail = { seq: 0, hash: '' }
/** Compared each with each. */
const MOST_SUSPECTS = 300

/** Takes the events of a log in the order of their numbers, and tells what was done to them. */
export class LogWalk {
  readonly #options: LogWalkOptions
  readonly #tails: Map<number, Tail>
  /** Before the tail of each chain. */
  readonly #earlier = new Map<number, Tail>()
  /** How far each chain was held against what was signed. */
  readonly #signed = new Map<number, number>()
  readonly #suspects: Suspect[] = []
  readonly #gaps: number[] = []
  readonly #found: LogFinding[] = []
  first: number | undefined
  last: number | undefined

  constructor(options: LogWalkOptions) {
    this.#options = options
    this.#tails = new Map(options.tails)
    this.#skipSigned()
  }

  take(row: AuditEventRow): void {
    const before = this.last ?? Math.max(0, ...[...this.#tails.values()].map(({ seq }) => seq))
    if (row.seq > before + 1) this.#gaps.push(before + 1)
    this.first ??= row.seq
    this.last = row.seq
    const chain = chainIn(row)
    const tail = this.#tails.get(chain) ?? NOTHING
    if (!follows(row, tail)) this.#suspect(row, tail, chain)
    this.#earlier.set(chain, tail)
    this.#tails.set(chain, row)
    this.#holdAgainstSigned(row, chain)
  }

  /** @param heads as they are once the last event was taken */
  end(heads: readonly Tables['audit_head'][]): void {
    if (heads.length === 0) this.#found.push({ kind: 'truncated', seq: (this.last ?? 0) + 1 })
    for (const head of heads) this.#holdAgainstHead(head)
    const known = new Set(heads.map(({ id }) => id))
    for (const [chain, { seq }] of this.#tails) if (!known.has(chain)) this.#found.push({ kind: 'inserted', seq })
    for (const [chain, signed] of this.#options.signed) this.#requireUpTo(signed.at(-1)?.seq ?? 0, chain)
  }

  #holdAgainstHead({ id, seq, hash }: Tables['audit_head']): void {
    const tail = this.#tails.get(id) ?? NOTHING
    this.#requireUpTo(seq, id)
    if (tail.seq > seq) this.#found.push({ kind: 'inserted', seq: tail.seq })
    if (tail.seq === seq && tail.hash !== hash) this.#found.push({ kind: 'edited', seq })
  }

  #requireUpTo(seq: number, chain: number): void {
    const tail = this.#tails.get(chain) ?? NOTHING
    if (tail.seq < seq) this.#found.push({ kind: 'truncated', seq: tail.seq + 1 })
  }

  findings(): readonly LogFinding[] {
    const gaps = this.#options.isDense ? this.#gaps.map((seq) => ({ kind: 'deleted', seq }) as const) : []
    return [...this.#found, ...gaps, ...this.#judged()]
  }

  #suspect(row: AuditEventRow, tail: Tail, chain: number): void {
    const gap = this.#gaps.findLast((seq) => seq > tail.seq && seq < row.seq)
    const suspect = { row, before: tail, earlier: this.#earlier.get(chain) }
    if (gap !== undefined) this.#found.push({ kind: 'deleted', seq: gap })
    else if (this.#suspects.length < MOST_SUSPECTS) this.#suspects.push(suspect)
    else this.#found.push({ kind: 'edited', seq: row.seq })
  }

  /** Whether each stands in another's place, was put behind one that is not of the log, or is not what it was. */
  #judged(): readonly LogFinding[] {
    const found = new Map<number, LogFinding['kind']>()
    /** Hashes that stood in places where others stand now. */
    const meant = new Map<string, Tail>()
    for (const { row, before, earlier } of this.#suspects) {
      const chain = chainIn(row)
      const tail = meant.get(`${chain} ${before.seq}`) ?? before
      const own = this.#suspects.find((other) => follows({ ...other.row, seq: row.seq }, tail))
      meant.set(`${chain} ${row.seq}`, { seq: row.seq, hash: own?.row.hash ?? row.hash })
      if (own?.row === row) continue
      if (own) found.set(row.seq, 'reordered')
      // All but the one between them follows: that was put there.
      else if (earlier && follows(row, earlier)) found.set(before.seq, 'inserted')
      else found.set(row.seq, 'edited')
    }
    return [...found].map(([seq, kind]) => ({ kind, seq }))
  }

  /** What was signed before the first event that is looked at. */
  #skipSigned(): void {
    for (const [chain, signed] of this.#options.signed) {
      const start = this.#tails.get(chain)?.seq ?? 0
      this.#signed.set(chain, signed.filter(({ seq }) => seq <= start).length)
    }
  }

  /** Who hashes a whole chain anew cannot sign it: what was changed is behind the last signature that holds. */
  #holdAgainstSigned({ seq, hash }: AuditEventRow, chain: number): void {
    const signed = this.#options.signed.get(chain) ?? []
    for (let at = this.#signed.get(chain) ?? 0; (signed[at]?.seq ?? Number.POSITIVE_INFINITY) <= seq; at++) {
      this.#signed.set(chain, at + 1)
      if (signed[at]?.seq === seq && signed[at]?.hash === hash) continue
      this.#found.push({ kind: 'edited', seq: (signed[at - 1]?.seq ?? 0) + 1 })
      // The rest of the chain is of another making.
      this.#signed.set(chain, signed.length)
      return
    }
  }
}

function follows({ hash, ...row }: AuditEventRow, tail: Tail): boolean {
  return chainedHash(tail.hash, row) === hash
}
