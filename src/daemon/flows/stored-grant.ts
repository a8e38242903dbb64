import { BrokerError, Secret } from '../../protocol/index.ts'
import type { OAuthClient, OAuthServer, Tokens } from './flows.ts'

type Credential = Readonly<Record<string, Secret>>

/** What a connection keeps of a login, apart from its columns: enough to refresh and to revoke. */
export interface StoredGrant {
  readonly accessToken: Secret
  readonly refreshToken?: Secret
  /** Its secret only where the client was registered for this login: a user's own app is kept once for all. */
  readonly client: OAuthClient
  /** As the login found it; a definition's own endpoints are in the definition. */
  readonly server: Pick<OAuthServer, 'issuer' | 'tokenUrl' | 'refreshUrl' | 'revocationUrl' | 'resource' | 'isPrivate'>
}

/** The fields of a sealed record. All of them are secrets to it; which may be shown is the reader's to say. */
export function credentialOf({ accessToken, refreshToken, client, server }: StoredGrant): Credential {
  return {
    access_token: accessToken,
    ...(refreshToken && { refresh_token: refreshToken }),
    client_id: new Secret(client.id),
    client_auth: new Secret(client.auth),
    ...(client.secret && { client_secret: client.secret }),
    ...sealed({
      issuer: server.issuer,
      token_url: server.tokenUrl,
      refresh_url: server.refreshUrl,
      revocation_url: server.revocationUrl,
      resource: server.resource,
      network: server.isPrivate ? 'private' : undefined,
    }),
  }
}

function sealed(texts: Readonly<Record<string, string | undefined>>): Credential {
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text ? [[name, new Secret(text)]] : [])))
}

/** The reverse. @throws BrokerError CredentialMissingError for a credential that no OAuth login made */
export function storedGrant(credential: Credential): StoredGrant {
  const { access_token: accessToken, refresh_token: refreshToken, client_secret: secret } = credential
  if (!accessToken) throw new BrokerError('CredentialMissingError', 'The connection holds no access token')
  const text = (name: string) => credential[name]?.reveal()
  const [issuer, tokenUrl] = [text('issuer'), text('token_url')]
  const [refreshUrl, revocationUrl, resource] = [text('refresh_url'), text('revocation_url'), text('resource')]
  return {
    accessToken,
    ...(refreshToken && { refreshToken }),
    client: { id: text('client_id') ?? '', auth: authOf(text('client_auth')), ...(secret && { secret }) },
    server: {
      ...(issuer && { issuer }),
      ...(tokenUrl && { tokenUrl }),
      ...(refreshUrl && { refreshUrl }),
      ...(revocationUrl && { revocationUrl }),
      ...(resource && { resource }),
      ...(text('network') === 'private' && { isPrivate: true }),
    },
  }
}

/** Tokens of a refresh in the place of those before: a provider that sends no new refresh token means the old one. */
export function refreshedGrant(before: StoredGrant, { accessToken, refreshToken }: Tokens): StoredGrant {
  return { ...before, accessToken, ...(refreshToken && { refreshToken }) }
}

function authOf(text: string | undefined): OAuthClient['auth'] {
  return text === 'client_secret_post' || text === 'client_secret_basic' ? text : 'none'
}
