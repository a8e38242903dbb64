import { Secret } from '../../protocol/index.ts'
import { withoutEcho } from './echo.ts'
import type { AssertionRequest, RefreshOutcome, Tokens } from './flows.ts'
import { patiently } from './outbound-request.ts'
import { BadAnswer, headOf, isProviderFailure } from './provider-failure.ts'
import { outcomeOf } from './refresh.ts'
import { assertionBody, bearer } from './secret-requests.ts'
import { isToken, readAnswer, readTokenAnswer } from './token-answer.ts'
import { secondsLeft } from './token-lifetime.ts'
import type { Means } from './tokens.ts'

/** Shows an assertion where it was signed for, once, and takes the token that comes back. */
export async function assertIdentity(means: Means, request: AssertionRequest): Promise<RefreshOutcome> {
  try {
    return outcomeOf(await withoutEcho([request.assertion], () => ask[request.shown](means, request)))
  } catch (error) {
    if (isProviderFailure(error)) return outcomeOf(error)
    throw error
  }
}

type Ask = (means: Means, request: AssertionRequest) => Promise<Tokens>

const ask: Readonly<Record<AssertionRequest['shown'], Ask>> = { grant: askForGrant, caller: askAsCaller }

async function askForGrant(means: Means, { definition, tokenUrl, assertion, scopes }: AssertionRequest) {
  const { response } = await patiently(means.ask)({
    method: 'POST',
    url: tokenUrl,
    reach: 'private',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: assertionBody(assertion),
  })
  const now = means.now()
  const answer = await readTokenAnswer(response, { definition, idToken: 'ignored', now })
  const { access_token, token_type, expires_in } = (await answer.response.json()) as ConformAnswer
  if (token_type.toLowerCase() !== 'bearer') throw new BadAnswer('granted a token that is no bearer token')
  return tokens(access_token, expires_in, scopes, now)
}

interface ConformAnswer {
  readonly access_token: string
  readonly token_type: string
  readonly expires_in?: number
}

async function askAsCaller(means: Means, { tokenUrl, assertion, scopes }: AssertionRequest) {
  const { response } = await patiently(means.ask)({
    method: 'POST',
    url: tokenUrl,
    reach: 'private',
    headers: {
      accept: 'application/vnd.github+json',
      authorization: bearer(assertion),
      'x-github-api-version': '2022-11-28',
    },
  })
  const now = means.now()
  const answer = await readAnswer(response)
  if (!isToken(answer['token'])) throw new BadAnswer('sent no access token that can be one', headOf(response))
  return tokens(answer['token'], secondsLeft(answer, now), scopes, now)
}

function tokens(token: string, seconds: number | undefined, scopes: readonly string[], now: number): Tokens {
  return {
    accessToken: new Secret(token),
    scopes,
    ...(seconds !== undefined && { expiresAt: now + seconds * 1000 }),
  }
}
