import { Secret } from '../protocol/index.ts'
import type { HostKeys } from './host-keys.ts'

/** From the word to the next empty line. */
const MACROS = /^[ \t]*macdef[ \t][\s\S]*?(?:\n[ \t]*\r?\n|$(?![\s\S]))/gm
const WORDS = /"(?:[^"\\]|\\.)*"|\S+/g
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }

interface Pair {
  readonly name: string
  readonly value: string
}

/** The passwords in a .netrc, the first one of each machine; undefined where its grammar is not kept. */
export function netrcKeys(text: string): HostKeys | undefined {
  const keys = new Map<string, Secret>()
  const pairs = parsePairs(text)
  if (!pairs) return undefined
  let machine: string | undefined
  for (const { name, value } of pairs) {
    if (name === 'machine' || name === 'default') machine = value.toLowerCase()
    else if (machine === undefined) return undefined
    else if (name === 'password' && machine !== '' && value !== '' && !keys.has(machine)) {
      keys.set(machine, new Secret(value))
    }
  }
  return { keys }
}

function parsePairs(text: string): readonly Pair[] | undefined {
  const pairs: Pair[] = []
  let name: string | undefined
  for (const line of text.replace(MACROS, '\n').split('\n')) {
    for (const word of line.match(WORDS) ?? []) {
      // Where a value is due it is one: a password may begin like a comment.
      if (name === undefined && word.startsWith('#')) break
      const value = unquoted(word)
      if (value === undefined) return undefined
      if (name !== undefined) {
        pairs.push({ name, value })
        name = undefined
      } else if (word === 'default') pairs.push({ name: word, value: '' })
      else if (['machine', 'login', 'password', 'account'].includes(word)) name = word
      else return undefined
    }
  }
  return name === undefined ? pairs : undefined
}

function unquoted(word: string): string | undefined {
  if (!word.startsWith('"')) return word
  if (!/^"(?:[^"\\]|\\.)*"$/.test(word)) return undefined
  return word.slice(1, -1).replace(/\\(.)/g, (_, character: string) => CONTROLS[character] ?? character)
}
