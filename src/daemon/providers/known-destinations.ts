import { type CredentialKind, digestOf, withBaseUrl } from './destination-digest.ts'
import { EARLIER_DESTINATIONS } from './earlier-destinations.ts'

/**
 * The destination with this digest, if a bundled definition of an earlier version had it: connections of that time keep
 * the digest alone. As {@link import('./destination-digest.ts').destinationText} writes it.
 */
export function earlierDestination(
  provider: string,
  kind: CredentialKind,
  { digest, baseUrl }: { readonly digest: string; readonly baseUrl: string | undefined },
): string | undefined {
  return (EARLIER_DESTINATIONS[provider] ?? [])
    .filter(({ auth_type }) => auth_type === kind)
    .map((destination) => withBaseUrl(destination, baseUrl))
    .find((text) => digestOf(text) === digest)
}
