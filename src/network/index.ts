/**
 * Hosts, addresses, and whom to trust: one spelling of a host, one matcher of patterns, one list of addresses that are
 * dangerous, one reading of NO_PROXY, one set of roots. Pure: it knows no service and no credential, and opens no socket.
 */
export { type AddressKind, addressKind, isMetadataHost } from './address-kind.ts'
export {
  type Authority,
  authority,
  authorityOfUrl,
  bracketed,
  formatAuthority,
  type Host,
  HTTP_PORT,
  HTTPS_PORT,
  hostOf,
  parseAuthority,
} from './authority.ts'
export { der, type OidName } from './der.ts'
export {
  formatPattern,
  type HostPattern,
  hostMatcher,
  isAmazon,
  isWildcard,
  matchesAuthority,
  matchesHost,
  overlap,
  patternOf,
  readPattern,
  splitPattern,
  tie,
} from './host-pattern.ts'
export { isListed, plainAddress, prefixOf, reachedAddress } from './ip-address.ts'
export { isCommonLoopback, isLoopback } from './loopback.ts'
export { NameSuffixes } from './name-suffixes.ts'
export { isExcepted, type ProxyException, parseNoProxy } from './no-proxy.ts'
export {
  certificatesIn,
  certificatesOf,
  isUnknownAuthority,
  rootsBeyondSystem,
  systemRoots,
  trustContext,
  usableCertificates,
} from './trust-roots.ts'
