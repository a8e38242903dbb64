import * as oauth from 'oauth4webapi'
import { Secret } from '../../protocol/index.ts'
import { accountOf } from './account.ts'
import { secretsIn, withoutEcho } from './echo.ts'
import type { OAuthServer, StartedAuthorization, Tokens } from './flows.ts'
import { fetchOptions, libraryParty, understood } from './library-party.ts'
import { patiently } from './outbound-request.ts'
import { BadAnswer } from './provider-failure.ts'
import { withQuirks } from './quirks.ts'
import { type LibraryParty, requestExchange } from './secret-requests.ts'
import { readTokenAnswer } from './token-answer.ts'
import { furtherParameters, idTokenOf, type Means, tokensOf } from './tokens.ts'

/** Spends the code that the browser brought back. @throws ProviderRefusal, BadAnswer, Unreachable */
export async function exchange(
  means: Means,
  started: StartedAuthorization,
  callback: URLSearchParams,
): Promise<Tokens> {
  const returned = withoutQuirks(started.definition, callback)
  const sent = [...secretsIn(started), new Secret(started.state), new Secret(returned.get('code') ?? '')]
  return withoutEcho(sent, () => spendCode(means, { started, returned, sent }))
}

interface Return {
  readonly started: StartedAuthorization
  /** What came back, in RFC 6749's words. */
  readonly returned: URLSearchParams
  readonly sent: readonly Secret[]
}

async function spendCode({ ask, now }: Means, { started, returned, sent }: Return): Promise<Tokens> {
  const { definition, scopes, redirectUri, verifier, nonce } = started
  const party = libraryParty(started)
  const { as, client } = party
  const checked = await understood(() => checkCallback(party, started, returned))
  const response = await understood(() =>
    requestExchange(
      party,
      { checked, redirectUri, verifier },
      {
        ...fetchOptions(started, 'token', patiently(ask)),
        additionalParameters: furtherParameters(started),
      },
    ),
  )
  const answer = await readTokenAnswer(response, { definition, idToken: idTokenOf(started, scopes), now: now() })
  const body = await understood(() =>
    oauth.processAuthorizationCodeResponse(as, client, answer.response, {
      ...(answer.hasIdToken && nonce !== undefined && { expectedNonce: nonce }),
    }),
  )
  const tokens = tokensOf(body, answer, { asked: scopes, now: now(), sent })
  const account = await accountOf({ ask, now }, started, body)
  return { ...tokens, ...(account && { account }) }
}

/** Returns what came back, for the library: of this server (RFC 9207), for this login. */
function checkCallback(
  { as, client }: Pick<LibraryParty, 'as' | 'client'>,
  { server, state }: StartedAuthorization,
  returned: URLSearchParams,
): URLSearchParams {
  const parameters = new URLSearchParams(returned)
  if (server.issuer === undefined) {
    if (!parameters.getAll('iss').every((issuer) => isAtServer(issuer, server)))
      throw new BadAnswer('came back from another server than the one that was asked')
    parameters.delete('iss')
  }
  const checked = oauth.validateAuthResponse(as, client, parameters, state)
  if (!checked.has('code')) throw new BadAnswer('sent the browser back without a code')
  return checked
}

/** A server whose name is not known can at least not be on another origin. */
function isAtServer(issuer: string, { authorizationUrl, tokenUrl }: OAuthServer): boolean {
  const origin = URL.parse(issuer)?.origin
  return [authorizationUrl, tokenUrl].some((url) => url !== undefined && URL.parse(url)?.origin === origin)
}

/** Brings the code back by the name that the provider has for it in the token request. */
function withoutQuirks(definition: StartedAuthorization['definition'], callback: URLSearchParams): URLSearchParams {
  const parameters = new URLSearchParams(callback)
  const [name = 'code'] = [...withQuirks(definition, 'token', new URLSearchParams({ code: '' })).keys()]
  const code = parameters.get(name)
  if (name !== 'code' && code !== null) parameters.set('code', code)
  return parameters
}
