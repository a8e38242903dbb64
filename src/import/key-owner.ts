import type { Secret } from '../protocol/index.ts'
import { type KeyProvider, keyField } from './key-providers.ts'

/**
 * The one other provider whose keys begin as this value does, where its own provider's begin less so or in no known way:
 * `sk-or-…` is OpenRouter's though every key of OpenAI begins with `sk-`. Undefined where nobody, or more than one, is it.
 */
export function otherOwnerOf(
  value: Secret,
  provider: KeyProvider,
  providers: readonly KeyProvider[],
): string | undefined {
  const text = value.reveal()
  const ownBeginnings = beginningsOf(provider)
  const least = ownBeginnings.length === 0 ? LEAST : Math.max(LEAST_KNOWN, longestOf(ownBeginnings, text) + 1)
  const others = providers.flatMap((other) => {
    if (other === provider || (ownBeginnings.length === 0 && isKin(other.name, provider.name))) return []
    const length = longestOf(beginningsOf(other), text)
    return length >= least ? [{ name: other.name, length }] : []
  })
  const longest = Math.max(...others.map(({ length }) => length))
  const [only, ...more] = others.filter(({ length }) => length === longest)
  return more.length === 0 ? only?.name : undefined
}

/** Characters that say whose a key is. Of a provider whose keys are not known, more of them are needed. */
const LEAST = 5
const LEAST_KNOWN = 4
/** Beginnings that anybody's key may have. */
const ANYBODYS = /^(?:api|key|pat|live|test|sandbox|secret|token|eyJ)[-_.]?$/i

function longestOf(beginnings: readonly string[], text: string): number {
  return Math.max(0, ...beginnings.filter((one) => text.startsWith(one)).map((one) => one.length))
}

/** Services of one house take each other's keys: GitHub Packages takes GitHub's. */
function isKin(one: string, other: string): boolean {
  return one.split('-', 1)[0] === other.split('-', 1)[0]
}

const known = new WeakMap<KeyProvider, readonly string[]>()

/** Returns what a key begins with, by each alternative of its pattern that begins with characters as they are. */
function beginningsOf(provider: KeyProvider): readonly string[] {
  const before = known.get(provider)
  if (before) return before
  const { fields } = provider
  const key = keyField(fields)
  const beginnings = alternativesOf(fields.find(({ name }) => name === key)?.pattern ?? '')
    .map(literalOf)
    .filter((text) => text.length > 1 && !ANYBODYS.test(text))
  known.set(provider, beginnings)
  return beginnings
}

/** `^(a|b)c$` as `ac` and `bc`; one that is no group at its beginning as it is. */
function alternativesOf(pattern: string): readonly string[] {
  const text = pattern.replace(/^\^/, '')
  const end = text.startsWith('(') ? endOfGroup(text) : -1
  if (end === -1) return [text]
  const rest = text.slice(end + 1)
  return alternatives(text.slice(1, end).replace(/^\?:/, '')).map((one) => (/^[?*{]/.test(rest) ? '' : one + rest))
}

function endOfGroup(text: string): number {
  return depths(text).findIndex((depth, at) => depth === 0 && text[at] === ')')
}

function alternatives(text: string): readonly string[] {
  const levels = depths(text)
  const cuts = [...text].flatMap((character, at) => (character === '|' && levels[at] === 0 ? [at] : []))
  return [-1, ...cuts].map((cut, index) => text.slice(cut + 1, cuts[index]))
}

/** Returns how many groups are open behind each character; a class counts as one. */
function depths(text: string): readonly number[] {
  let depth = 0
  return [...text].map((character, at) => {
    const isEscaped = text[at - 1] === '\\'
    if (!isEscaped && (character === '(' || character === '[')) depth++
    if (!isEscaped && (character === ')' || character === ']')) depth--
    return depth
  })
}

function literalOf(alternative: string): string {
  const [literal = ''] = /^(?:[A-Za-z0-9_-](?![?*{])|\\[.-](?![?*{]))*/.exec(alternative) ?? []
  return literal.replaceAll('\\', '')
}
