import type { ResolvedCredential } from '../../injection/index.ts'
import type { HostPattern } from '../../network/index.ts'
import type { Actor } from '../../protocol/index.ts'
import type { UsableConnection } from '../connections/index.ts'
import type { Provider } from '../providers/index.ts'
import { resolutionOf } from './resolution.ts'
import type { TokenIssuer } from './token-issuer.ts'

export interface IssuedUse {
  readonly actor: Actor
  readonly provider: Provider
  readonly pattern: HostPattern
  readonly used: UsableConnection
  /** Of a token that its host has refused. */
  readonly rejectedVersion: number | undefined
}

/**
 * A request that carries a token which was got with what the connection holds.
 * @throws BrokerError RefreshFailedError; TokenExpiredError where nothing but a login helps
 */
export async function issuedResolution(
  issuer: TokenIssuer,
  { actor, provider, pattern, used, rejectedVersion }: IssuedUse,
): Promise<ResolvedCredential> {
  const token = await issuer.token(actor, provider, used, rejectedVersion)
  const { client_id: clientId } = used.credential.fields
  return resolutionOf(
    provider,
    {
      provider: used.provider,
      connection: used.connection,
      authType: 'oauth2',
      credential: { access_token: token.accessToken, ...(clientId && { client_id: clientId }) },
      version: token.version,
      ...(token.expiresAt !== undefined && { expiresAt: token.expiresAt }),
    },
    pattern,
  )
}
