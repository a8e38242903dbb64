const [AMPERSAND, EQUALS] = [0x26, 0x3d]
const MAX_NAME = 4_096

/** Puts values in place of those of fields of a form (`application/x-www-form-urlencoded`) that comes in pieces. */
export class FormEdit {
  /** Set once a field is there twice, of which a service would read either, or a name is out of bounds. */
  malformed = false
  readonly #values: ReadonlyMap<string, string>
  readonly #found = new Set<string>()
  #reading: 'name' | 'value' | 'target' = 'name'
  #name: number[] = []

  /** @param values by the names of their fields */
  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values
  }

  /** Whether all of the fields were met, and what was there is behind. */
  get isDone(): boolean {
    return this.#found.size === this.#values.size && this.#reading !== 'target'
  }

  read(data: Buffer, onData: (edited: Buffer) => void): void {
    let from = 0
    for (let at = 0; at < data.length && !this.malformed; at += 1) {
      const byte = data[at] ?? 0
      if (byte === AMPERSAND) {
        if (this.#reading === 'target') from = at
        this.#beginName()
      } else if (this.#reading === 'name') {
        const value = this.#readName(byte)
        if (value === undefined) continue
        onData(data.subarray(from, at + 1))
        onData(Buffer.from(encodeURIComponent(value)))
        from = data.length
      }
    }
    if (!this.malformed && from < data.length && this.#reading !== 'target') onData(data.subarray(from))
  }

  #beginName(): void {
    this.#reading = 'name'
    this.#name = []
  }

  /** One byte of a name; returns what takes the place of the value behind it, if anything does. */
  #readName(byte: number): string | undefined {
    if (byte === EQUALS) return this.#endName()
    if (this.#name.push(byte) > MAX_NAME) this.malformed = true
    return undefined
  }

  #endName(): string | undefined {
    const name = decoded(Buffer.from(this.#name).toString())
    const value = this.#values.get(name)
    this.#reading = value === undefined ? 'value' : 'target'
    if (value === undefined) return undefined
    if (this.#found.has(name)) {
      this.malformed = true
      return undefined
    }
    this.#found.add(name)
    return value
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
