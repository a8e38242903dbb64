import { isIPv4, isIPv6 } from 'node:net'
import { plainAddress } from '../../network/index.ts'

/** The addresses of the way that a request took, the first client's first; undefined in place of what is none. */
export type Way = readonly (string | undefined)[]

/** By the lines of `Forwarded` (RFC 7239): `for=192.0.2.43, for="[2001:db8::1]:4711";proto=https`. */
export function forwardedAddresses(lines: readonly string[]): Way {
  return lines.flatMap(forwardedLine)
}

/** By the lines of `X-Forwarded-For`, which no standard describes: addresses between commas, some proxies add the port. */
export function xForwardedAddresses(lines: readonly string[]): Way {
  return lines.flatMap((line) => line.split(',')).map((item) => addressOf(item.trim(), 'any'))
}

// Sticky, and no two of its parts match the same text: each character of a line is looked at once.
const PAIR = /[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)")[ \t]*([;,]|$)/y

/** Of a line that is not what it should be nothing is known, not even where its parts begin. */
function forwardedLine(line: string): Way {
  const way: (string | undefined)[] = []
  const pair = new RegExp(PAIR)
  let nodes: string[] = []
  while (pair.lastIndex < line.length) {
    const found = pair.exec(line)
    if (!found) return [undefined]
    const [, name = '', token, quoted, end] = found
    if (name.toLowerCase() === 'for') nodes.push(token ?? (quoted ?? '').replace(/\\(.)/g, '$1'))
    if (end === ';') continue
    const [node = '', again] = nodes
    way.push(again === undefined ? addressOf(node, 'bracketed') : undefined)
    nodes = []
  }
  return /[;,][ \t]*$/.test(line) || way.length === 0 ? [undefined] : way
}

const WITH_PORT = /^(?:\[([^\]]*)\]|([^:]*))(?::(?:\d{1,5}|_[A-Za-z0-9._-]+))?$/

/** Undefined for `unknown`, for names that a proxy made up (`_hidden`), and for what is nothing at all. */
function addressOf(node: string, ipv6: 'bracketed' | 'any'): string | undefined {
  if (ipv6 === 'any' && isIPv6(node)) return plainAddress(node)
  const [, inBrackets, bare = ''] = WITH_PORT.exec(node) ?? []
  if (inBrackets !== undefined) return isIPv6(inBrackets) ? plainAddress(inBrackets) : undefined
  return isIPv4(bare) ? bare : undefined
}
