import { getValidatedIdTokenClaims, type TokenEndpointResponse } from 'oauth4webapi'
import { repeats, secretsIn } from './echo.ts'
import type { Party, Tokens } from './flows.ts'
import { CLOCK_TOLERANCE, reachOf } from './library-party.ts'
import { BadAnswer, shownText } from './provider-failure.ts'
import { type JsonObject, readAnswer } from './token-answer.ts'
import { grantedIn, type Means } from './tokens.ts'

type Account = NonNullable<Tokens['account']>

/** Whose tokens they are: what a valid ID token says, else the userinfo endpoint. @throws BadAnswer for an ID token from the future */
export async function accountOf(
  { ask, now }: Means,
  party: Party,
  body: TokenEndpointResponse,
): Promise<Account | undefined> {
  const claims = getValidatedIdTokenClaims(body)
  // The library looks at no issue time.
  if (claims !== undefined && claims.iat * 1000 > now() + CLOCK_TOLERANCE * 1000)
    throw new BadAnswer('sent an ID token from the future')
  const isNamed = claims !== undefined && nameIn(claims) !== undefined
  // A name is not worth a login.
  const user = isNamed ? undefined : await askForUser({ ask, now }, party, body.access_token).catch(() => undefined)
  const isSame = claims === undefined || user?.['sub'] === claims.sub
  const said = Object.entries(isSame ? { ...claims, ...user } : { ...claims })
  const secrets = [...secretsIn(party), ...Object.values(grantedIn(body))]
  // It is listed, and stored in plain: no token may stand in for a name.
  return accountIn(Object.fromEntries(said.filter(([, text]) => typeof text !== 'string' || !repeats(text, secrets))))
}

async function askForUser({ ask }: Means, party: Party, accessToken: string): Promise<JsonObject | undefined> {
  const url = party.server.userinfoUrl
  if (url === undefined) return undefined
  const headers = { authorization: `Bearer ${accessToken}` }
  const { response } = await ask({ method: 'GET', url, headers, reach: reachOf(party, url) })
  return readAnswer(response)
}

/** Members that name a person, best first; those of OpenID, then those of providers without it. */
const LABELS = ['email', 'preferred_username', 'username', 'login', 'name'] as const

function nameIn(user: JsonObject): string | undefined {
  return LABELS.map((member) => shownText(user[member], 100)).find((text) => text !== undefined)
}

function accountIn(user: JsonObject): Account | undefined {
  const id = shownText(textOf(user['sub'] ?? user['id']), 255)
  const label = nameIn(user) ?? shownText(id, 100)
  return label === undefined ? undefined : { ...(id !== undefined && { id }), label }
}

function textOf(id: unknown): unknown {
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id
}
