/**
 * DNS names with all below them, as name constraints of certificates have them (RFC 5280 section 4.2.1.10): of a pattern, what is
 * right of its last `*`.
 */
export class NameSuffixes {
  /** The fewest that cover the patterns, in their order. */
  readonly names: readonly string[]
  readonly #names: ReadonlySet<string>

  constructor(hostPatterns: readonly string[]) {
    const all = new Set(hostPatterns.map(suffixOf))
    this.names = [...all].filter((name) => parentsOf(name).every((parent) => !all.has(parent)))
    this.#names = new Set(this.names)
  }

  /** Returns the one that covers every name of the pattern; undefined where none does. */
  of(hostPattern: string): string | undefined {
    const suffix = suffixOf(hostPattern)
    return [suffix, ...parentsOf(suffix)].find((name) => this.#names.has(name))
  }
}

function suffixOf(hostPattern: string): string {
  return hostPattern.slice(hostPattern.lastIndexOf('*') + 1).replace(/^\./, '')
}

function parentsOf(name: string): readonly string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join('.'))
}
