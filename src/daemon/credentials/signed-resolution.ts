import type { Place, ResolvedCredential } from '../../injection/index.ts'
import { HTTPS_PORT } from '../../network/index.ts'
import { BrokerError, Secret, withoutOptionalSpace } from '../../protocol/index.ts'
import type { UsableConnection } from '../connections/index.ts'
import { type AwsKey, scopeOfHost, sigV4Headers } from '../signing/index.ts'
import type { CredentialRequest } from './credential-request.ts'

export interface SignedUse {
  readonly used: UsableConnection
  readonly request: CredentialRequest
}

/**
 * A request that carries a signature of its own.
 * @param now in milliseconds
 * @throws BrokerError InvalidRequestError where the question does not say what is signed
 */
export function signedResolution({ used, request }: SignedUse, now: number): ResolvedCredential {
  const { provider, connection } = used
  const host = wireHost(request)
  const { sign, method, path } = request
  if (!sign || method === undefined || path === undefined) throw notSignable(used, 'it does not say what is signed')
  if (sign.headers?.some(({ name, value }) => name.toLowerCase() === 'host' && !isOwnHost(request, value)))
    throw notSignable(used, 'its Host is not the host that the credential is for')
  const scope = sign.scope ?? scopeOfHost(request.host)
  if (!scope) throw notSignable(used, 'neither it nor its host says for which region and service it is signed')
  const key = awsKey(used)
  const headers = sigV4Headers(
    { method, host, path, query: sign.query ?? '', headers: sign.headers ?? [], payload: sign.payload, scope },
    key,
    now,
  )
  const places = Object.entries(headers).map(
    ([name, value]): Place => ({ in: 'header', name, value: new Secret(value) }),
  )
  return {
    provider,
    connection,
    places: key.sessionToken ? places : [...places, { in: 'header', name: SECURITY_TOKEN }],
  }
}

/** The child's own belongs to another key. */
const SECURITY_TOKEN = 'X-Amz-Security-Token'

function wireHost({ host, port, sign }: CredentialRequest): string {
  const own = sign?.headers?.find(({ name }) => name.toLowerCase() === 'host')?.value
  return own ?? (port === HTTPS_PORT ? host : `${host}:${port}`)
}

/** A signature is for one host: it must be the one that was matched, however it is written. */
function isOwnHost({ host, port }: CredentialRequest, value: string): boolean {
  const named = withoutOptionalSpace(value).toLowerCase()
  return named === `${host}:${port}` || (named === host && port === HTTPS_PORT)
}

function awsKey({ provider, connection, credential: { fields } }: UsableConnection): AwsKey {
  const { access_key_id: id, secret_access_key: secretAccessKey, session_token: sessionToken } = fields
  if (id && secretAccessKey) {
    return { accessKeyId: id.reveal(), secretAccessKey, ...(sessionToken && { sessionToken }) }
  }
  throw new BrokerError('CredentialMissingError', `Connection "${connection}" of ${provider} holds no access key`, {
    provider,
    connection,
    hint: `Log in again: broker login ${provider} --force`,
  })
}

function notSignable({ provider, connection }: UsableConnection, why: string): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot sign this request: ${why}`, { provider, connection })
}
