import { setTimeout as delay } from 'node:timers/promises'
import * as oauth from 'oauth4webapi'
import { secretsIn, withoutEcho } from './echo.ts'
import type { RefreshOutcome, RefreshRequest, Tokens } from './flows.ts'
import { fetchOptions, libraryParty, understood } from './library-party.ts'
import { patiently } from './outbound-request.ts'
import { BadAnswer, isForLater, isProviderFailure, ProviderRefusal, Unreachable } from './provider-failure.ts'
import { requestRefresh } from './secret-requests.ts'
import { readTokenAnswer } from './token-answer.ts'
import { furtherParameters, type Means, tokensOf } from './tokens.ts'

const SECOND_TRY_AFTER_MS = 250
/** What failed later than this may have reached the provider. */
const QUICK_MS = 1000

/**
 * Spends a refresh token: one request, and a second only where the connection failed at once, before a byte of an
 * answer. Whoever has spent the token by then has lost the answer anyway.
 */
export async function refresh(means: Means, request: RefreshRequest): Promise<RefreshOutcome> {
  const start = performance.now()
  const first = await attempt(means, request)
  if (!isWorthASecondTry(first, performance.now() - start)) return outcomeOf(first)
  await delay(SECOND_TRY_AFTER_MS)
  const outcome = outcomeOf(await attempt(means, request))
  // A connection that was made and then closed may have carried the token.
  return outcome.kind === 'failed' && first.kind === 'reset' ? { ...outcome, answered: false } : outcome
}

export type Attempt = Tokens | ProviderRefusal | BadAnswer | Unreachable

async function attempt(means: Means, request: RefreshRequest): Promise<Attempt> {
  try {
    return await withoutEcho(secretsIn(request), () => ask(means, request))
  } catch (error) {
    if (isProviderFailure(error)) return error
    throw error
  }
}

function isWorthASecondTry(attempt: Attempt, elapsedMs: number): attempt is Unreachable {
  const isQuick = attempt instanceof Unreachable && (attempt.kind === 'refused' || attempt.kind === 'reset')
  return isQuick && elapsedMs < QUICK_MS
}

async function ask(means: Means, request: RefreshRequest): Promise<Tokens> {
  const { definition, server, scopes, refreshToken } = request
  const tokenUrl = server.refreshUrl ?? server.tokenUrl
  const party = libraryParty({ ...request, server: { ...server, ...(tokenUrl && { tokenUrl }) } })
  const response = await understood(() =>
    requestRefresh(party, refreshToken, {
      ...fetchOptions(request, 'token', patiently(means.ask)),
      additionalParameters: furtherParameters(request),
    }),
  )
  const now = means.now()
  const answer = await readTokenAnswer(response, { definition, idToken: 'ignored', now })
  const body = await understood(() => oauth.processRefreshTokenResponse(party.as, party.client, answer.response))
  return tokensOf(body, answer, { asked: scopes, now, sent: secretsIn(request) })
}

export function outcomeOf(attempt: Attempt): RefreshOutcome {
  if (attempt instanceof Unreachable)
    return { kind: 'failed', reason: attempt.kind, answered: NEVER_SENT.has(attempt.kind) }
  if (attempt instanceof ProviderRefusal) return isFinal(attempt) ? rejected(attempt) : failed(attempt, attempt.code)
  if (attempt instanceof BadAnswer) return failed(attempt, `answer_${attempt.status}`)
  return { kind: 'refreshed', tokens: attempt }
}

function rejected({ code }: ProviderRefusal): RefreshOutcome {
  return { kind: 'rejected', reason: code }
}

function failed(answer: ProviderRefusal | BadAnswer, reason: string): RefreshOutcome {
  const { status, retryAfter } = answer
  // A gateway's own error says nothing of what is behind it, an answer that makes no sense says nothing at all.
  const answered = answer instanceof ProviderRefusal || (status >= 400 && status < 500) || status === 503
  return {
    kind: 'failed',
    reason,
    answered,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(isRefusal(answer) && { refused: true }),
  }
}

/** No, in whose words ever. A page of HTML with 403 is a wall before the provider, and not its answer. */
function isRefusal(answer: ProviderRefusal | BadAnswer): boolean {
  if (answer instanceof BadAnswer) return answer.status === 401
  return (answer.status === 200 || REFUSING.has(answer.status)) && !PASSING.test(answer.code)
}

const REFUSING: ReadonlySet<number> = new Set([400, 401, 403, 410, 422])
/** Error codes that speak of the moment, with whatever status they come. */
const PASSING =
  /slow_?down|rate|limit|throttl|too_?many|temporar|unavailable|timeout|timed_out|busy|internal|server_error/

/** The provider has not seen the token. */
const NEVER_SENT: ReadonlySet<Unreachable['kind']> = new Set<Unreachable['kind']>([
  'forbidden_url',
  'private_address',
  'metadata_address',
  'refused',
  'name',
  'tls',
  'proxy',
])

function isFinal({ code, status }: ProviderRefusal): boolean {
  return !isForLater(status) && (FINAL.has(code) || ABOUT_THE_TOKEN.test(code))
}

/** RFC 6749 section 5.2, and what some say in its place. */
const FINAL: ReadonlySet<string> = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'expired_token',
  'token_expired',
  'token_revoked',
  'account_inactive',
  'incorrect_client_credentials',
  'invalid_client_id',
  'bad_client_secret',
])
const ABOUT_THE_TOKEN =
  /(?:^|_)(?:bad|expired|invalid|revoked|unknown)_refresh_?token|refresh_?token_(?:expired|invalid|not_found|revoked)/
