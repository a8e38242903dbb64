const QUOTE = 0x22
const BACKSLASH = 0x5c
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, COMMA, COLON] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a]
const MAX_DEPTH = 256
const MAX_KEY = 4_096

/** An object or a list that is open, and which member of it comes. */
interface Level {
  readonly kind: 'object' | 'list'
  member: string
  index: number
  expectsKey: boolean
}

/** What is read just now of a string. */
type Reading = 'nothing' | 'key' | 'string' | 'target'

/**
 * Puts values in place of the strings that JSON pointers (RFC 6901) name, in JSON that comes in pieces. What is not a string, or
 * not there, stays as it is. It checks no more of the grammar than it needs to know where it is.
 */
export class JsonEdit {
  /** Set once a place is there twice, of which a service would read either, or the nesting is out of bounds. */
  malformed = false
  readonly #values: ReadonlyMap<string, string>
  readonly #found = new Set<string>()
  readonly #levels: Level[] = []
  #reading: Reading = 'nothing'
  #isEscaped = false
  #key: number[] = []

  /** @param values by their pointers */
  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values
  }

  /** Whether all of the places were met, and what was there is behind. */
  get isDone(): boolean {
    return this.#found.size === this.#values.size && this.#reading !== 'target'
  }

  read(data: Buffer, onData: (edited: Buffer) => void): void {
    let from = 0
    for (let at = 0; at < data.length && !this.malformed; at += 1) {
      const wasTarget = this.#reading === 'target'
      const value = this.#readByte(data[at] ?? 0)
      if (wasTarget && this.#reading === 'nothing') from = at + 1
      if (value === undefined) continue
      onData(data.subarray(from, at))
      onData(Buffer.from(JSON.stringify(value)))
      from = data.length
    }
    if (!this.malformed && from < data.length && this.#reading !== 'target') onData(data.subarray(from))
  }

  /** Returns what takes the place of the string that begins with this byte, if one does, and anything. */
  #readByte(byte: number): string | undefined {
    if (this.#reading !== 'nothing') this.#readString(byte)
    else if (byte === QUOTE) return this.#beginString()
    else this.#readMark(byte)
    return undefined
  }

  #readString(byte: number): void {
    const isEnd = byte === QUOTE && !this.#isEscaped
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped
    if (isEnd) {
      if (this.#reading === 'key') this.#endKey()
      this.#reading = 'nothing'
    } else if (this.#reading === 'key' && this.#key.push(byte) > MAX_KEY) this.malformed = true
  }

  #endKey(): void {
    const level = this.#levels.at(-1)
    const text = `"${Buffer.from(this.#key).toString()}"`
    this.#key = []
    try {
      if (level !== undefined) level.member = String(JSON.parse(text))
    } catch {
      this.malformed = true
    }
  }

  #beginString(): string | undefined {
    const level = this.#levels.at(-1)
    if (level?.kind === 'object' && level.expectsKey) {
      this.#reading = 'key'
      return undefined
    }
    const pointer = this.#pointer()
    const value = this.#values.get(pointer)
    this.#reading = value === undefined ? 'string' : 'target'
    if (value === undefined) return undefined
    if (this.#found.has(pointer)) {
      this.malformed = true
      return undefined
    }
    this.#found.add(pointer)
    return value
  }

  #pointer(): string {
    const escaped = (member: string) => member.replaceAll('~', '~0').replaceAll('/', '~1')
    return this.#levels.map(({ kind, member, index }) => `/${kind === 'list' ? index : escaped(member)}`).join('')
  }

  #readMark(byte: number): void {
    const level = this.#levels.at(-1)
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      const isObject = byte === OPEN_OBJECT
      this.#levels.push({ kind: isObject ? 'object' : 'list', member: '', index: 0, expectsKey: isObject })
      if (this.#levels.length > MAX_DEPTH) this.malformed = true
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#levels.pop()
    else if (level !== undefined && byte === COMMA) {
      level.index += 1
      level.expectsKey = level.kind === 'object'
    } else if (level !== undefined && byte === COLON) level.expectsKey = false
  }
}
