import type { Secret } from '../../protocol/index.ts'
import type { RevocationOutcome, RevocationRequest } from './flows.ts'
import { fetchOptions, libraryParty, understood } from './library-party.ts'
import { isProviderFailure, ProviderRefusal } from './provider-failure.ts'
import { requestRevocation } from './secret-requests.ts'
import { readAnswer } from './token-answer.ts'
import type { Means } from './tokens.ts'

/** Ends a grant (RFC 7009): the refresh token first, then the access token, whatever became of the first. */
export async function revoke(means: Means, request: RevocationRequest): Promise<RevocationOutcome> {
  if (request.server.revocationUrl === undefined) return 'unsupported'
  const { refreshToken, accessToken } = request
  const first = refreshToken && (await revokeToken(means, request, refreshToken, 'refresh_token'))
  const second = await revokeToken(means, request, accessToken, 'access_token')
  const outcomes = [first, second]
  if (outcomes.includes('failed')) return 'failed'
  return outcomes.includes('revoked') ? 'revoked' : 'unsupported'
}

async function revokeToken(
  { ask }: Means,
  request: RevocationRequest,
  token: Secret,
  kind: 'refresh_token' | 'access_token',
): Promise<RevocationOutcome> {
  try {
    const response = await understood(() =>
      requestRevocation(libraryParty(request), token, {
        ...fetchOptions(request, 'token', ask),
        additionalParameters: { token_type_hint: kind },
      }),
    )
    if (!response.ok) await readAnswer(response)
    return 'revoked'
  } catch (error) {
    if (!isProviderFailure(error)) throw error
    return error instanceof ProviderRefusal ? (SAID[error.code] ?? 'failed') : 'failed'
  }
}

/**
 * RFC 7009. Section 2.2.1: a token of such a type ends with its grant, or when its time is over. Section 2.2: a token that
 * is not good any more needs no revocation; many say so by an error all the same.
 */
const SAID: Readonly<Record<string, RevocationOutcome>> = {
  unsupported_token_type: 'unsupported',
  invalid_token: 'revoked',
  expired_token: 'revoked',
  token_expired: 'revoked',
  token_revoked: 'revoked',
  invalid_access_token: 'revoked',
  invalid_refresh_token: 'revoked',
}
