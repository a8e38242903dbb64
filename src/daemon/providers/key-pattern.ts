/** Whether a whole value fits a pattern. */
export type KeyPattern = (value: string) => boolean

export class KeyPatternError extends Error {
  override readonly name = 'KeyPatternError'
}

const MAX_STATES = 1_000
/** Longer values are no keys: they fit no pattern. */
const MAX_VALUE_LENGTH = 65_536

/**
 * Compiles a pattern of a definition into a matcher whose time grows with the value's length and with nothing else:
 * it follows all alternatives at once (Thompson's construction) and never goes back, so no pattern can make it slow.
 * It knows characters, `.`, classes, `\d \w \s` and their opposites, groups, `|`, `?`, `*`, `+`, `{n}`, `{n,}`, `{n,m}`;
 * a pattern always means the whole value, with or without `^` and `$`.
 * @throws {KeyPatternError} saying what the pattern must not have
 */
export function compileKeyPattern(pattern: string): KeyPattern {
  const program = assemble(parsePattern(pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')))
  return (value) => value.length <= MAX_VALUE_LENGTH && run(program, value)
}

type Test = (character: string) => boolean

type Node =
  | { readonly kind: 'character'; readonly test: Test }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number }

function parsePattern(text: string): Node {
  let at = 0
  const node = choice()
  if (at < text.length) throw new KeyPatternError('must have a "(" for each ")"')
  return node

  function choice(): Node {
    const parts = [sequence()]
    while (text[at] === '|') {
      at++
      parts.push(sequence())
    }
    return { kind: 'choice', parts }
  }

  function sequence(): Node {
    const parts: Node[] = []
    while (at < text.length && text[at] !== '|' && text[at] !== ')') parts.push(repeated(atom()))
    return { kind: 'sequence', parts }
  }

  function atom(): Node {
    const character = text[at++] ?? ''
    if (character === '(') return group()
    if ('^$*+?{}]'.includes(character)) throw new KeyPatternError(`must have "\\" before a "${character}" of its own`)
    return { kind: 'character', test: character === '[' ? characterClass() : single(character) }
  }

  function group(): Node {
    if (text[at] === '?') {
      if (text[at + 1] !== ':') throw new KeyPatternError('must not look around or name groups')
      at += 2
    }
    const node = choice()
    if (text[at++] !== ')') throw new KeyPatternError('must have a ")" for each "("')
    return node
  }

  function single(character: string): Test {
    if (character === '.') return (other) => other !== '\n' && other !== '\r'
    return character === '\\' ? escaped() : (other) => other === character
  }

  function escaped(): Test {
    const character = text[at++] ?? ''
    const known = ESCAPES.get(character)
    if (known !== undefined) return known
    if (character === '' || /[A-Za-z0-9]/.test(character))
      throw new KeyPatternError('must not have back-references or escapes other than \\d, \\w, \\s and their opposites')
    return (other) => other === character
  }

  function characterClass(): Test {
    const negated = text[at] === '^'
    if (negated) at++
    const tests: Test[] = []
    while (at < text.length && text[at] !== ']') tests.push(classMember())
    if (text[at++] !== ']' || tests.length === 0) throw new KeyPatternError('must have a "]" for each "["')
    return (character) => tests.some((test) => test(character)) !== negated
  }

  function classMember(): Test {
    const from = text[at++] ?? ''
    if (from === '\\') return escaped()
    if (text[at] !== '-' || text[at + 1] === ']' || text[at + 1] === undefined) return (other) => other === from
    const to = text[at + 1] ?? ''
    at += 2
    if (to === '\\' || to < from) throw new KeyPatternError('must have ranges in order, without escapes')
    return (other) => from <= other && other <= to
  }

  function repeated(part: Node): Node {
    const count = /^(?:[?*+]|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})/.exec(text.slice(at))
    if (count === null) return part
    at += count[0].length
    if (text[at] === '?' || text[at] === '*' || text[at] === '+')
      throw new KeyPatternError('must not repeat a repetition')
    const [min, max] = bounds(count)
    if (max < min) throw new KeyPatternError('must have counts in order')
    return { kind: 'repeat', part, min, max }
  }
}

function bounds([text, least, comma, most]: RegExpExecArray): readonly [number, number] {
  if (text === '?') return [0, 1]
  if (text === '*') return [0, Number.POSITIVE_INFINITY]
  if (text === '+') return [1, Number.POSITIVE_INFINITY]
  if (comma === undefined) return [Number(least), Number(least)]
  return [Number(least), most === undefined ? Number.POSITIVE_INFINITY : Number(most)]
}

const isDigit: Test = (character) => /^[0-9]$/.test(character)
const isWord: Test = (character) => /^[0-9A-Za-z_]$/.test(character)
const isSpace: Test = (character) => /^\s$/.test(character)

const ESCAPES: ReadonlyMap<string, Test> = new Map([
  ['d', isDigit],
  ['D', (character: string) => !isDigit(character)],
  ['w', isWord],
  ['W', (character: string) => !isWord(character)],
  ['s', isSpace],
  ['S', (character: string) => !isSpace(character)],
])

/** A state either takes a character and goes on, or goes to others at once. The last one is the end. */
type State = { readonly test: Test; readonly next: number } | { readonly jumps: readonly number[] }

interface Program {
  readonly states: readonly State[]
  readonly start: number
}

/** Built from the end to the beginning, so that each state knows where it leads. */
function assemble(pattern: Node): Program {
  const states: State[] = [{ jumps: [] }]
  return { start: add(pattern, 0), states }

  function push(state: State): number {
    if (states.length >= MAX_STATES) throw new KeyPatternError('must be smaller: its counts multiply to too much')
    return states.push(state) - 1
  }

  function add(node: Node, next: number): number {
    switch (node.kind) {
      case 'character':
        return push({ test: node.test, next })
      case 'sequence':
        return node.parts.reduceRight((behind, part) => add(part, behind), next)
      case 'choice':
        return push({ jumps: node.parts.map((part) => add(part, next)) })
      case 'repeat':
        return addRepeat(node, next)
    }
  }

  function addRepeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>, next: number): number {
    let start = max === Number.POSITIVE_INFINITY ? addLoop(part, next) : next
    for (let count = min; count < max && max !== Number.POSITIVE_INFINITY; count++)
      start = push({ jumps: [add(part, start), next] })
    for (let count = 0; count < min; count++) start = add(part, start)
    return start
  }

  function addLoop(part: Node, next: number): number {
    const jumps: number[] = [next]
    const loop = push({ jumps })
    jumps.push(add(part, loop))
    return loop
  }
}

function run({ states, start }: Program, value: string): boolean {
  let current = reach(states, [start])
  for (const character of value) {
    const next: number[] = []
    for (const index of current) {
      const state = states[index]
      if (state !== undefined && 'test' in state && state.test(character)) next.push(state.next)
    }
    current = reach(states, next)
    if (current.size === 0) return false
  }
  return current.has(0)
}

function reach(states: readonly State[], from: readonly number[]): ReadonlySet<number> {
  const reached = new Set<number>()
  const open = [...from]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (reached.has(index)) continue
    reached.add(index)
    const state = states[index]
    if (state !== undefined && 'jumps' in state) open.push(...state.jumps)
  }
  return reached
}
