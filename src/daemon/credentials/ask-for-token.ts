import type { ProviderDefinition } from '../../schemas/index.ts'
import type { UsableConnection } from '../connections/index.ts'
import type { Flows, RefreshOutcome } from '../flows/index.ts'
import { clientParty } from '../providers/index.ts'
import { missingKey, signedAssertion } from './signed-assertion.ts'

/**
 * Asks once for a token with what a connection holds: the id and secret of a client, or a key that signs.
 * @param now in milliseconds
 * @throws BrokerError CredentialMissingError where it cannot be read any more
 */
export async function askForToken(
  flows: Flows,
  definition: ProviderDefinition,
  used: UsableConnection,
  now: number,
): Promise<RefreshOutcome> {
  if (used.credential.kind !== 'client_credentials') return flows.assert(signedAssertion(definition, used, now))
  const party = clientParty(definition, used.credential.fields, { baseUrl: used.baseUrl, now })
  if (!party) throw missingKey(definition, used)
  return flows.grantToClient({ ...party, scopes: used.scopes })
}
