/** A JSON text with where things stand in it. */
export interface PlacedJson {
  readonly value: unknown
  /** Line, from 1, of the part at a dotted path (`hosts.0`); of the nearest part around it where there is none. */
  lineOf(path: string): number
}

/** A text that is not JSON, or that two readers could understand differently. `message` repeats names of fields alone. */
export class PlacedJsonError extends Error {
  override readonly name = 'PlacedJsonError'
  /** Both from 1. */
  readonly line: number
  readonly column: number

  constructor(message: string, line: number, column: number) {
    super(message)
    this.line = line
    this.column = column
  }
}

const MAX_DEPTH = 64

/** @throws PlacedJsonError that says what was probably meant: a comment, a comma too many, a name without quotes */
export function parsePlacedJson(text: string): PlacedJson {
  const reader = new Reader(text)
  const value = reader.document()
  return {
    value,
    lineOf(path) {
      for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
        const offset = reader.places.get(at)
        if (offset !== undefined) return reader.placeOf(offset).line
      }
      return reader.placeOf(reader.places.get('') ?? 0).line
    },
  }
}

class Reader {
  readonly places = new Map<string, number>()
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): unknown {
    const value = this.#value([])
    this.#space()
    if (this.#at < this.#text.length) throw this.#problem(this.#oddity() ?? 'something stands behind the end')
    return value
  }

  placeOf(offset: number): { readonly line: number; readonly column: number } {
    const before = this.#text.slice(0, offset).split(/\r\n|\r|\n/)
    return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }

  #value(path: readonly string[]): unknown {
    this.#space()
    if (path.length > MAX_DEPTH) throw this.#problem(`it is nested deeper than ${MAX_DEPTH}`)
    if (!this.places.has(path.join('.'))) this.places.set(path.join('.'), this.#at)
    const character = this.#text[this.#at]
    if (character === '{') return this.#object(path)
    if (character === '[') return this.#array(path)
    if (character === '"') return this.#string()
    return this.#plain()
  }

  #object(path: readonly string[]): object {
    const members = new Map<string, unknown>()
    const starts = new Map<string, number>()
    this.#at++
    for (let isFirst = true; !this.#closes('}', isFirst); isFirst = false) {
      const start = this.#at
      const name = this.#name()
      const before = starts.get(name)
      if (before !== undefined) {
        const shown = JSON.stringify(name.slice(0, 64))
        throw this.#problem(`the field ${shown} is given twice, first in line ${this.placeOf(before).line}`, start)
      }
      starts.set(name, start)
      this.places.set([...path, name].join('.'), start)
      this.#colon()
      members.set(name, this.#value([...path, name]))
    }
    return Object.fromEntries(members)
  }

  #array(path: readonly string[]): readonly unknown[] {
    const items: unknown[] = []
    this.#at++
    for (let isFirst = true; !this.#closes(']', isFirst); isFirst = false) {
      items.push(this.#value([...path, String(items.length)]))
    }
    return items
  }

  /** Returns whether it ends here; where it does not, the comma before the next thing is passed over. */
  #closes(bracket: '}' | ']', isFirst: boolean): boolean {
    this.#space()
    if (this.#text[this.#at] === bracket) {
      this.#at++
      return true
    }
    if (isFirst) return this.#mustGoOn(bracket)
    if (this.#text[this.#at] !== ',') throw this.#problem(this.#oddity() ?? this.#noComma(bracket))
    const comma = this.#at++
    this.#space()
    const next = this.#text[this.#at]
    if (next === '}' || next === ']') throw this.#problem('there is a comma with nothing behind it', comma)
    return this.#mustGoOn(bracket)
  }

  #mustGoOn(bracket: string): false {
    if (this.#at >= this.#text.length) throw this.#problem(`it ends before a "${bracket}"`)
    return false
  }

  #noComma(bracket: string): string {
    if (this.#at >= this.#text.length) return `it ends before a "${bracket}"`
    return /["{[\w-]/.test(this.#text[this.#at] ?? '')
      ? 'a comma is missing before this'
      : `"," or "${bracket}" is missing`
  }

  #name(): string {
    if (this.#text[this.#at] !== '"') {
      throw this.#problem(this.#oddity() ?? 'the name of a field must stand in double quotes')
    }
    const start = this.#at
    const name = this.#string()
    if (name === '__proto__') throw this.#problem('a field is named "__proto__"', start)
    return name
  }

  #colon(): void {
    this.#space()
    if (this.#text[this.#at] !== ':')
      throw this.#problem(this.#oddity() ?? 'a ":" is missing behind the name of a field')
    this.#at++
  }

  #string(): string {
    const start = this.#at
    const [quoted] = /^"(?:[^"\\\r\n]|\\.)*"/.exec(this.#text.slice(start)) ?? []
    if (quoted === undefined) throw this.#problem('a text is not closed on its line', start)
    this.#at += quoted.length
    try {
      return String(JSON.parse(quoted))
    } catch {
      throw this.#problem('a text has a control character, or a "\\" that means nothing', start)
    }
  }

  #plain(): unknown {
    const start = this.#at
    const [word = ''] = /^[^\s,:[\]{}"'/#]+/.exec(this.#text.slice(start)) ?? []
    if (!PLAIN.test(word)) throw this.#problem(this.#oddity() ?? noValue(word))
    this.#at += word.length
    return JSON.parse(word)
  }

  /** Returns what people write in other formats. */
  #oddity(): string | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 2)
    if (rest === '//' || rest === '/*' || rest[0] === '#') return 'there is a comment, which JSON does not have'
    if (rest[0] === "'") return 'there is a single quote: in JSON a text stands in double quotes'
    if (rest[0] !== undefined && '“”„«»'.includes(rest[0])) return 'there is a typographic quote in place of "'
    return undefined
  }

  #space(): void {
    while (SPACE.has(this.#text[this.#at] ?? '')) this.#at++
  }

  #problem(message: string, at = this.#at): PlacedJsonError {
    const { line, column } = this.placeOf(at)
    return new PlacedJsonError(message, line, column)
  }
}

const SPACE: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n'])
const PLAIN = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

function noValue(word: string): string {
  if (word === '') return 'a value is missing'
  return 'a value is neither a text in double quotes nor a number, true, false or null'
}
