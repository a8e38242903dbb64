/** A text that is not JSON, or is JSON that two readers could understand differently. `message` repeats none of it. */
export class StrictJsonError extends Error {
  override readonly name = 'StrictJsonError'
}

const MAX_DEPTH = 64

/**
 * `JSON.parse` that refuses what it would let through: a byte order mark, a name given twice in one object, the name
 * `__proto__`, nesting deeper than 64.
 * @throws {StrictJsonError}
 */
export function parseStrictJson(text: string): unknown {
  const value = parseJson(text)
  // Only now is the text known to be well-formed: the scan below relies on it.
  refuseAmbiguity(text)
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new StrictJsonError(text.startsWith('\uFEFF') ? 'begins with a byte order mark' : 'is not JSON')
  }
}

function refuseAmbiguity(text: string): void {
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') {
      if (open.push(new Set()) > MAX_DEPTH) throw new StrictJsonError(`is nested deeper than ${MAX_DEPTH}`)
    } else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = endOfString(text, at)
      if (isName(text, end)) refuseRepeatedName(text.slice(at, end), open.at(-1))
      at = end - 1
    }
  }
}

/** Behind the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function isName(text: string, end: number): boolean {
  let at = end
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

function refuseRepeatedName(quoted: string, names: Set<string> | undefined): void {
  const name = String(JSON.parse(quoted))
  if (name === '__proto__') throw new StrictJsonError('has a field named "__proto__"')
  if (names?.has(name)) throw new StrictJsonError('gives a field twice')
  names?.add(name)
}
