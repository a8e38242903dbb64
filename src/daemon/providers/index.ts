/**
 * What the services are that credentials are for: bundled and custom definitions, which of them a request goes to, and
 * how its credential is carried there. Must never store, open or log a credential, nor ask the network anything.
 */
export { answeredBaseUrl, credentialHosts, isOwnServer, needsBaseUrl } from './base-url.ts'
export { catalogueFile, catalogueKey, signedBytes } from './catalogue-file.ts'
export type { CheckedDefinition } from './check-definitions.ts'
export { clientScopes, isClientCredential } from './client-credentials.ts'
export { clientParty, enteredOf, isToBeDiscovered, withEndpoints } from './client-party.ts'
export {
  credentialFields,
  hasSection,
  type KeySection,
  keySection,
  loginOption,
  oddShapes,
  parseCredential,
} from './credential.ts'
export { type CustomDefinitions, definitionFolder } from './custom-definitions.ts'
export { type DefinitionFile, definitionFileName, definitionText, digestOfDefinitions } from './definition-files.ts'
export {
  type DestinationDifference,
  type DestinationLines,
  differenceOf,
  isSameDestination,
} from './destination-difference.ts'
export { type CredentialKind, destinationDigest, destinationText, digestOf } from './destination-digest.ts'
export { hostsOfDestination } from './destination-hosts.ts'
export { isOneFamily, isPartOf } from './family.ts'
export { injectionFor, passwordTemplate, placeNamesFor } from './injection.ts'
export { differencesOf, earlierDestination } from './known-destinations.ts'
export type { CatalogueStore } from './open-catalogue.ts'
export { type CataloguePlan, openProviders, type Providers } from './open-providers.ts'
export { type OwnPlace, ownPlaceFor, ownPlaces } from './own-places.ts'
export { definitionAt, parseBaseUrl, withoutOwnLogin } from './own-server.ts'
export type { Match, Provider, Target } from './provider.ts'
export { CHECKED_DEFINITIONS } from './shipped-catalogue.ts'
export { isSigningCredential, serviceAccountOf, tokenUrlOf } from './signing-credential.ts'
export { templatesOf } from './url-template.ts'
