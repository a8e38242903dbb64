import { DEFAULT_PORT, isThisMachine } from '../../protocol/index.ts'
import { problemOfName } from './host-pattern.ts'

/** What is wrong with the URL of an endpoint: https, or http on loopback; a name, no credentials, no fragment. */
export function problemOfEndpoint(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'must be an absolute URL'
  const isLoopback = isThisMachine(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback))
    return 'must be https, or http on loopback'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (text.includes('#')) return 'must not contain a fragment'
  // The daemon would call itself.
  if (isLoopback) return url.port === String(DEFAULT_PORT) ? "must not be the daemon's own port" : undefined
  return url.hostname.includes('*') ? 'must not contain a wildcard' : problemOfName(url.hostname)
}
