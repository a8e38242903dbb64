import { FormEdit } from './form-edit.ts'
import { JsonEdit } from './json-edit.ts'

/** Bytes that are held back until every place was met, for a body whose length was said. */
const MAX_HELD = 1024 * 1024

/** What a request says of its body. */
export interface BodyFacts {
  /** Values of its headers, by name in lower case; undefined where there is none. */
  header(name: string): string | undefined
  /** In bytes; undefined where its end is told otherwise. */
  readonly length: number | undefined
}

interface Edit {
  readonly malformed: boolean
  readonly isDone: boolean
  read(data: Buffer, onData: (edited: Buffer) => void): void
}

/**
 * Puts credentials into a body on its way. A body whose length was said is held back, within a bound, until what it becomes is
 * known: then {@link lengthChange} says by how much it grows, and the rest flows on.
 */
export class BodyEdit {
  readonly complete = true
  readonly #edit: Edit
  readonly #length: number | undefined
  #read = 0
  #given = 0
  #held: Buffer[] | undefined
  #tooLong = false
  #change = 0

  constructor(edit: Edit, length: number | undefined) {
    this.#edit = edit
    this.#length = length
    this.#held = length === undefined ? undefined : []
  }

  /** Set where a place is there twice, or comes too late to say how long the body is. */
  get malformed(): boolean {
    return this.#edit.malformed || this.#tooLong
  }

  /** By how many bytes it grows, or shrinks; undefined as long as that is not known. */
  get lengthChange(): number | undefined {
    return this.#held === undefined ? this.#change : undefined
  }

  read(data: Buffer, onData: (edited: Buffer) => void): void {
    this.#read += data.length
    const held = this.#held
    if (held === undefined) {
      this.#edit.read(data, onData)
      return
    }
    this.#edit.read(data, (edited) => {
      this.#given += edited.length
      held.push(edited)
    })
    if (this.#edit.isDone || this.#read === this.#length) this.#letGo(held, onData)
    else if (this.#read > MAX_HELD) this.#tooLong = true
  }

  #letGo(held: readonly Buffer[], onData: (edited: Buffer) => void): void {
    this.#held = undefined
    this.#change = this.#given - this.#read
    onData(Buffer.concat(held))
  }
}

/** Makes the edit of a body; undefined where none of the places can be in it: another type, a coding, or no body. */
export function bodyEditOf(values: ReadonlyMap<string, string>, facts: BodyFacts): BodyEdit | undefined {
  if (facts.header('content-encoding') !== undefined || facts.length === 0) return undefined
  const type = facts.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  const isJson = /^application\/(?:[\w.+-]+\+)?json$/.test(type)
  const isForm = type === 'application/x-www-form-urlencoded'
  const own = new Map([...values].filter(([name]) => name.startsWith('/') === isJson))
  if (own.size === 0 || !(isJson || isForm)) return undefined
  return new BodyEdit(isJson ? new JsonEdit(own) : new FormEdit(own), facts.length)
}
