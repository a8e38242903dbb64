import { BrokerError } from '../../protocol/index.ts'
import type { StartedAuthorization } from '../flows/index.ts'

/**
 * Returns what a browser came back with, out of the address that it ended at, or of the query alone. White space in it is from a
 * terminal that wrapped it.
 * @throws BrokerError InvalidRequestError that says what it is instead, and repeats nothing of it
 */
export function pastedReturn(
  pasted: string,
  redirectUri: string,
  { url, state }: Pick<StartedAuthorization, 'url' | 'state'>,
): URLSearchParams {
  const query = queryOf(pasted.replace(/\s+/g, '').replace(/^["'<]|["'>]$/g, ''), redirectUri, url)
  const names = [...query.keys()]
  if (new Set(names).size < names.length) throw unusable('names a parameter twice')
  if (!query.has('state') && !query.has('code')) throw unusable(`carries no login: ${WANTED}`)
  if (query.get('state') !== state) throw unusable(`belongs to another login: ${WANTED}`)
  const error = query.get('error')
  if (error !== null)
    throw unusable(`says that the provider refused${codeOf(error)}: agree there, and paste where it ends`)
  if (!query.get('code')) throw unusable(`carries no code: ${WANTED}`)
  return query
}

const WANTED = 'paste the whole address that the browser ended at, in this login'

function queryOf(text: string, redirectUri: string, authorizationUrl: string): URLSearchParams {
  if (/^\?|^[a-z_]+=/.test(text)) return new URLSearchParams(text)
  const page = URL.parse(/^https?:\/\//i.test(text) ? text : `${new URL(redirectUri).protocol}//${text}`)
  if (page === null || !/[/?]/.test(text)) throw unusable(`is no address: ${WANTED}`)
  if (placeOf(page) === placeOf(new URL(redirectUri))) return page.searchParams
  throw unusable(
    placeOf(page) === placeOf(new URL(authorizationUrl))
      ? 'is where the login begins: open it, agree, and paste where the browser ends'
      : `is not where the login ends: that begins with ${redirectUri}`,
  )
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}

// The codes of RFC 6749, section 4.1.2.1, and what others made of them.
function codeOf(error: string): string {
  return /^[a-z][a-z0-9_.-]{0,63}$/i.test(error) ? ` (${error})` : ''
}

function unusable(message: string): BrokerError {
  return new BrokerError('InvalidRequestError', 'Cannot go on with what was pasted', {
    details: [{ path: 'input.callback_url', message }],
    hint: `It ${message}.`,
  })
}
