import { isLoopback } from '../../network/index.ts'

const MAX_LENGTH = 2000
const SHAPE = /^https?:\/\/[^\s\u0000-\u0020\u007f-\u00a0\\]+$/i

/**
 * A URL that somebody else chose, fit to be asked or to be shown: https, or http on loopback, without credentials,
 * white space, control characters or backslashes, at most 2000 characters. Re-serialised; undefined where it is not fit.
 */
export function outsideUrl(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_LENGTH || !SHAPE.test(text)) return undefined
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || url.href.length > MAX_LENGTH) return undefined
  return url.protocol === 'https:' || isLoopback(url.hostname) ? url.href : undefined
}
