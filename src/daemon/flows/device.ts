import * as oauth from 'oauth4webapi'
import { Secret } from '../../protocol/index.ts'
import { accountOf } from './account.ts'
import { repeats, secretsIn, withoutEcho } from './echo.ts'
import type { DevicePoll, DeviceRequest, StartedDevice, Tokens } from './flows.ts'
import { fetchOptions, libraryParty, understood } from './library-party.ts'
import { patiently } from './outbound-request.ts'
import { outsideUrl } from './outside-url.ts'
import { BadAnswer, headOf, isForLater, ProviderRefusal, Unreachable } from './provider-failure.ts'
import { quirk } from './quirks.ts'
import { requestDeviceToken } from './secret-requests.ts'
import { isToken, type JsonObject, readAnswer, readTokenAnswer } from './token-answer.ts'
import { furtherParameters, idTokenOf, type Means, scopeParameter, tokensOf } from './tokens.ts'

const DEFAULT_INTERVAL = 5
const LONGEST_INTERVAL = 60
const DEFAULT_LIFETIME = 600
const LONGEST_LIFETIME = 1800

/** Asks for a device code (RFC 8628, section 3.1). @throws ProviderRefusal, BadAnswer, Unreachable */
export async function startDevice(means: Means, request: DeviceRequest): Promise<StartedDevice> {
  return withoutEcho(secretsIn(request), () => askForCode(means, request))
}

async function askForCode({ ask, now }: Means, request: DeviceRequest): Promise<StartedDevice> {
  const { definition, server } = request
  const responseType = quirk(definition, 'deviceAtTokenUrl')
  const { as, client, auth } = libraryParty(request)
  const parameters = {
    ...scopeParameter(request, request.scopes),
    ...(server.resource !== undefined && { resource: server.resource }),
    ...(responseType !== undefined && { response_type: responseType }),
  }
  const response = await understood(() =>
    oauth.deviceAuthorizationRequest(as, client, auth, parameters, fetchOptions(request, 'device', ask)),
  )
  const answer = await readAnswer(response, quirk(definition, 'errorIn'))
  const device = deviceIn(answer, response, now())
  const { userCode, verificationUri, verificationUriComplete: complete, ...rest } = device
  const isSecret = (text: string) => repeats(text, [...secretsIn(request), device.deviceCode])
  if (isSecret(userCode) || isSecret(verificationUri))
    throw new BadAnswer('gives away a secret in what it wants to have shown', headOf(response))
  const isShown = complete !== undefined && !isSecret(complete)
  return { ...request, ...rest, userCode, verificationUri, ...(isShown && { verificationUriComplete: complete }) }
}

function deviceIn(answer: JsonObject, response: Response, now: number): Omit<StartedDevice, keyof DeviceRequest> {
  const { device_code: deviceCode, user_code: userCode } = answer
  const verificationUri = outsideUrl(answer['verification_uri'] ?? answer['verification_url'])
  const complete = outsideUrl(answer['verification_uri_complete'] ?? answer['verification_url_complete'])
  if (!isToken(deviceCode) || typeof userCode !== 'string' || !/^[!-~](?:[ -~]{0,62}[!-~])?$/.test(userCode))
    throw new BadAnswer('sent no device code that can be one', headOf(response))
  if (verificationUri === undefined) throw new BadAnswer('named no page that may be opened', headOf(response))
  return {
    deviceCode: new Secret(deviceCode),
    userCode,
    verificationUri,
    ...(complete !== undefined && { verificationUriComplete: complete }),
    interval: within(answer['interval'], DEFAULT_INTERVAL, LONGEST_INTERVAL),
    expiresAt: now + within(answer['expires_in'], DEFAULT_LIFETIME, LONGEST_LIFETIME) * 1000,
  }
}

/** A whole number of seconds from 1 to `longest`; the usual where none is said. */
function within(value: unknown, usual: number, longest: number): number {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof seconds !== 'number' || Number.isNaN(seconds)) return usual
  return Math.min(Math.max(Math.ceil(seconds), 1), longest)
}

/** Asks once whether the user has agreed (RFC 8628, section 3.4). @throws ProviderRefusal, BadAnswer */
export async function pollDevice(means: Means, started: StartedDevice, interval: number): Promise<DevicePoll> {
  if (means.now() >= started.expiresAt) throw new ProviderRefusal('expired_token', undefined)
  try {
    return { kind: 'granted', tokens: await withoutEcho(secretsIn(started), () => ask(means, started)) }
  } catch (error) {
    const next = nextInterval(error, interval)
    if (next === undefined) throw error
    return { kind: 'pending', interval: Math.min(next, LONGEST_INTERVAL) }
  }
}

/** Section 3.5: longer when told so, twice as long when there was no answer. Undefined where there is nothing to wait for. */
function nextInterval(error: unknown, interval: number): number | undefined {
  if (error instanceof ProviderRefusal && error.code === 'authorization_pending') return interval
  if (error instanceof ProviderRefusal && error.code === 'slow_down') return interval + 5
  if (error instanceof Unreachable) return interval * 2
  const isRest = (error instanceof ProviderRefusal || error instanceof BadAnswer) && isForLater(error.status)
  return isRest ? Math.max(interval * 2, error.retryAfter ?? 0) : undefined
}

async function ask({ ask, now }: Means, started: StartedDevice): Promise<Tokens> {
  const { definition, scopes, deviceCode } = started
  const party = libraryParty(started)
  const response = await understood(() =>
    requestDeviceToken(party, deviceCode, {
      ...fetchOptions(started, 'token', patiently(ask)),
      additionalParameters: {
        ...furtherParameters(started),
        ...(quirk(definition, 'scopesInPoll') && scopeParameter(started, scopes)),
      },
    }),
  )
  const answer = await readTokenAnswer(response, { definition, idToken: idTokenOf(started, scopes), now: now() })
  const body = await understood(() => oauth.processDeviceCodeResponse(party.as, party.client, answer.response))
  const tokens = tokensOf(body, answer, { asked: scopes, now: now(), sent: secretsIn(started) })
  const account = await accountOf({ ask, now }, started, body)
  return { ...tokens, ...(account && { account }) }
}
