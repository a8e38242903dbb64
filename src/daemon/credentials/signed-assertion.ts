import { BrokerError } from '../../protocol/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { UsableConnection } from '../connections/index.ts'
import type { AssertionRequest } from '../flows/index.ts'
import { loginOption, serviceAccountOf, tokenUrlOf } from '../providers/index.ts'
import { appAssertion, parsePrivateKey, serviceAccountAssertion } from '../signing/index.ts'

/**
 * Returns what a token is asked for with: an assertion for this moment, made with the connection's key.
 * @throws BrokerError CredentialMissingError where the key cannot be read any more
 */
export function signedAssertion(definition: ProviderDefinition, used: UsableConnection, now: number): AssertionRequest {
  const { signing } = definition
  const { fields: credential } = used.credential
  if (signing?.type === 'google_service_account') {
    const account = serviceAccountOf(credential)
    const subject = credential['subject']?.reveal()
    const tokenUrl = tokenUrlOf(signing, credential)
    const grant = { tokenUrl, scopes: signing.scopes, ...(subject !== undefined && { subject }) }
    if (account) {
      const assertion = serviceAccountAssertion(account, grant, now)
      return { definition, shown: 'grant', tokenUrl, assertion, scopes: signing.scopes }
    }
  }
  if (signing?.type === 'github_app') {
    const { app_id: appId, private_key: pem } = credential
    const key = pem && parsePrivateKey(pem.reveal())
    if (appId && key) {
      const assertion = appAssertion(appId.reveal(), key, now)
      return { definition, shown: 'caller', tokenUrl: tokenUrlOf(signing, credential), assertion, scopes: [] }
    }
  }
  throw missingKey(definition, used)
}

/** Returns the error for what cannot be read as what it was stored for. */
export function missingKey(
  definition: ProviderDefinition,
  { provider, connection, credential: { kind } }: UsableConnection,
): BrokerError {
  const [what, section] =
    kind === 'client_credentials' ? (['client', kind] as const) : (['key that signs', 'signing'] as const)
  return new BrokerError('CredentialMissingError', `Connection "${connection}" of ${provider} holds no ${what}`, {
    provider,
    connection,
    hint: `Log in again: broker login ${provider} --connection ${connection}${loginOption(definition, section)} --force`,
  })
}
