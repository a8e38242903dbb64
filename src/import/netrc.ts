import { Secret } from '../protocol/index.ts'
import type { HostKeys } from './host-keys.ts'
import { Broken } from './structured-text.ts'

/** From the word to the next empty line. */
const MACROS = /^[ \t]*macdef[ \t][\s\S]*?(?:\n[ \t]*\r?\n|$(?![\s\S]))/gm
const WORDS = /"(?:[^"\\]|\\.)*"|\S+/g
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

interface Pair {
  readonly name: string
  readonly value: string
  readonly line: number
}

/** The passwords in a .netrc, the first one of each machine. */
export function netrcKeys(text: string): HostKeys | Broken {
  const keys = new Map<string, Secret>()
  const pairs = parsePairs(text)
  if (pairs instanceof Broken) return pairs
  let machine: string | undefined
  for (const { name, value, line } of pairs) {
    if (name === 'machine' || name === 'default') machine = value.toLowerCase()
    else if (machine === undefined) return new Broken(line)
    else if (name === 'password' && machine !== '' && value !== '' && !keys.has(machine)) {
      keys.set(machine, new Secret(value))
    }
  }
  return { keys }
}

function parsePairs(text: string): readonly Pair[] | Broken {
  const pairs: Pair[] = []
  let name: string | undefined
  const lines = text.replace(MACROS, emptyLines).split('\n')
  for (const [at, row] of lines.entries()) {
    const line = at + 1
    for (const word of row.match(WORDS) ?? []) {
      // Where a value is due it is one: a password may begin like a comment.
      if (name === undefined && word.startsWith('#')) break
      const value = unquoted(word)
      if (value === undefined) return new Broken(line)
      if (name !== undefined) {
        pairs.push({ name, value, line })
        name = undefined
      } else if (word === 'default') pairs.push({ name: word, value: '', line })
      else if (['machine', 'login', 'password', 'account'].includes(word)) name = word
      else return new Broken(line)
    }
  }
  return name === undefined ? pairs : new Broken(lines.length)
}

/** In the place of a macro: what follows stays on its line. */
function emptyLines(macro: string): string {
  return '\n'.repeat(macro.split('\n').length - 1)
}

function unquoted(word: string): string | undefined {
  if (!word.startsWith('"')) return word
  if (!/^"(?:[^"\\]|\\.)*"$/.test(word)) return undefined
  return word.slice(1, -1).replace(/\\(.)/g, (_, character: string) => CONTROLS[character] ?? character)
}
