/**
 * How a provider is asked: discovery, registration, authorization code with PKCE, device code, refresh, revocation, and
 * the ways in which single providers bend the rules. Must never store anything, nor follow a redirect with a secret.
 */
export { clientMetadataDocument, redirectUriOf } from './client-metadata-document.ts'
export type {
  AssertionRequest,
  ClientRequest,
  Demand,
  DeviceRequest,
  Flows,
  OAuthClient,
  OAuthServer,
  Party,
  RefreshOutcome,
  RevocationOutcome,
  StartedAuthorization,
  StartedDevice,
  Tokens,
} from './flows.ts'
export { issuerName } from './library-party.ts'
export { type FlowsOptions, openFlows } from './open-flows.ts'
export { type ClientRefusal, ProviderRefusal, refusalOfClient } from './provider-failure.ts'
export { CLIENT_AUTH_METHODS } from './register.ts'
export { credentialOf, refreshedGrant, type StoredGrant, storedGrant } from './stored-grant.ts'
