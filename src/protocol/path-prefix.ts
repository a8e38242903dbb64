/**
 * Returns whether a path prefix of a definition covers this path of a request, which is without its query: `/mcp/` covers `/mcp` and
 * all below `/mcp/`, never `/mcpx`. A path that a server may resolve to another place is covered by no prefix.
 */
export function coversPath(prefix: string, path: string): boolean {
  return isAtOrBelow(prefix, path) && !mayLeavePrefix(path)
}

/** The text alone; for paths of which {@link mayLeavePrefix} is asked once. */
export function isAtOrBelow(prefix: string, path: string): boolean {
  return path.startsWith(prefix) || (path.length === prefix.length - 1 && prefix.startsWith(path))
}

/**
 * Returns whether a server may resolve this path, in any spelling of `/api/../admin`, to one that its text does not begin with: a
 * segment of one or two dots, each dot and separator as it is or percent-encoded, also more than once. An encoded slash
 * alone leads nowhere else: npm asks for `/@scope%2fname`. Reads the path once, from left to right.
 */
export function mayLeavePrefix(path: string): boolean {
  if (!path.includes('.') && !path.includes('%')) return false
  let dots = 0
  let isOnlyDots = true
  for (let at = 0; at < path.length; ) {
    const { means, length } = readCharacter(path, at)
    if (means === 'no text') return true
    if (means === '.') dots += 1
    else if (means === 'end of segment' || means === 'parameter') {
      if (isOnlyDots && isDotSegment(dots)) return true
      dots = 0
      isOnlyDots = means === 'end of segment'
    } else isOnlyDots = false
    at += length
  }
  return isOnlyDots && isDotSegment(dots)
}

function isDotSegment(dots: number): boolean {
  return dots === 1 || dots === 2
}

interface Character {
  /**
   * `parameter` is the ";" that some servers cut a segment off at; `no text` a byte that UTF-8 never has, out of which, with
   * the next one, some read a dot or a slash.
   */
  readonly means: '.' | 'end of segment' | 'parameter' | 'no text' | 'other'
  readonly length: number
}

const OTHER: Character = { means: 'other', length: 1 }

function readCharacter(path: string, at: number): Character {
  const character = path[at] ?? ''
  if (character !== '%') return { means: MEANINGS[character] ?? 'other', length: 1 }
  let digits = at + 1
  while (path.startsWith('25', digits)) digits += 2
  const means = ENCODED[path.slice(digits, digits + 2).toLowerCase()]
  return means === undefined ? OTHER : { means, length: digits + 2 - at }
}

const MEANINGS: Readonly<Record<string, Character['means']>> = {
  '.': '.',
  '/': 'end of segment',
  '\\': 'end of segment',
  ';': 'parameter',
}

const ENCODED: Readonly<Record<string, Character['means']>> = {
  '2e': '.',
  '2f': 'end of segment',
  '5c': 'end of segment',
  '3b': 'parameter',
  c0: 'no text',
  c1: 'no text',
}
