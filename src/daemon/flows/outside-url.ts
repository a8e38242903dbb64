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
  return url.protocol === 'https:' || isLoopbackHost(url.hostname) ? url.href : undefined
}

/** Whether the host of a URL, IPv6 in brackets, is spelled as this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.[0-9]{1,3}){3}$/.test(hostname)
}
