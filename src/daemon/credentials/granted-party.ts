import type { Actor } from '../../protocol/index.ts'
import type { OAuthClients, RefreshLease } from '../connections/index.ts'
import { type Party, type StoredGrant, storedGrant } from '../flows/index.ts'
import { definitionAt, type Provider } from '../providers/index.ts'

/**
 * Returns who is asked about a grant, and as whom: the client that it was granted to. The secret of a user's own app is not kept
 * with each grant, but once.
 */
export async function grantedParty(
  clients: OAuthClients,
  actor: Actor,
  provider: Provider,
  { credential, baseUrl }: RefreshLease,
): Promise<{ readonly grant: StoredGrant; readonly party: Party }> {
  const grant = storedGrant(credential.fields)
  const own = grant.client.secret ? undefined : await clients.ownById(actor, provider, grant.client.id, baseUrl)
  return {
    grant,
    party: {
      definition: definitionAt(provider.definition, baseUrl),
      server: { sendsIssuer: false, takesMetadataDocument: false, ...grant.server },
      client: own ?? grant.client,
    },
  }
}
