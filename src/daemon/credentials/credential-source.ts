import type { ResolvedCredential } from '../../injection/index.ts'
import type { HostPattern } from '../../network/index.ts'
import type { Actor } from '../../protocol/index.ts'
import type { UsableConnection } from '../connections/index.ts'
import type { Provider } from '../providers/index.ts'
import type { CredentialRequest } from './credential-request.ts'

/** One request, and the connection that serves it. */
export interface Retrieval {
  readonly actor: Actor
  readonly provider: Provider
  /** Of the definition: the one whose form the request has. */
  readonly pattern: HostPattern
  readonly used: UsableConnection
  /** The same connection as it is by now, held to the request again. @throws BrokerError where it does not serve any more */
  readonly again: () => Promise<UsableConnection>
  readonly request: CredentialRequest
}

/** Makes what a request carries out of what a connection holds. */
export interface CredentialSource {
  /** @throws BrokerError CredentialMissingError, TokenExpiredError, RefreshFailedError, InvalidRequestError */
  retrieve(retrieval: Retrieval): Promise<ResolvedCredential>
}
