import { readFileSync } from 'node:fs'
import type { Way } from './way.ts'

/** Stands for what this process finds in its environment, as the child of a `broker run`. */
export const INHERITED = 'inherited'

export function withInherited(way: Way): Way {
  if (way.proxyUrl !== INHERITED) return way
  const caPem = way.caPem === INHERITED ? readFileSync(process.env['NODE_EXTRA_CA_CERTS'] ?? '', 'utf8') : way.caPem
  return { ...way, proxyUrl: process.env['HTTPS_PROXY'] ?? '', caPem }
}
