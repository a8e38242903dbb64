import { isCommonLoopback } from '../../network/index.ts'
import { DEFAULT_PORT } from '../../protocol/index.ts'
import { problemOfName } from './host-rules.ts'

/** Returns what is wrong with the URL of an endpoint: https, or http on loopback; a name, no credentials, no fragment. */
export function problemOfEndpoint(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'must be an absolute URL'
  const isHere = isCommonLoopback(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere)) return 'must be https, or http on loopback'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (text.includes('#')) return 'must not contain a fragment'
  // The daemon would call itself.
  if (isHere) return url.port === String(DEFAULT_PORT) ? "must not be the daemon's own port" : undefined
  return url.hostname.includes('*') ? 'must not contain a wildcard' : problemOfName(url.hostname)
}
