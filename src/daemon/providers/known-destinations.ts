import { type CredentialKind, digestOf, withBaseUrl } from './destination-digest.ts'
import { EARLIER_DESTINATIONS } from './earlier-destinations.ts'
import { type JsonObject, mergePatch, patchBetween } from './merge-patch.ts'

/** What most destinations of a kind have in common: where the chain of differences begins. */
const USUAL_DESTINATION: Readonly<Record<CredentialKind, JsonObject>> = {
  api_key: {
    api_key: { encoding: 'none', header_name: 'authorization', prefix: 'Bearer' },
    auth_type: 'api_key',
    flow: 'api_key',
    format: 1,
    injections: [],
  },
  oauth2: { auth_type: 'oauth2', format: 1, oauth: { header_name: 'authorization', prefix: 'Bearer' } },
  signing: { auth_type: 'signing', format: 1 },
  client_credentials: {
    auth_type: 'client_credentials',
    format: 1,
    oauth: { header_name: 'authorization', prefix: 'Bearer' },
  },
}

/**
 * The destination with this digest, if a bundled definition of an earlier version had it: connections of that time keep
 * the digest alone. As {@link import('./destination-digest.ts').destinationText} writes it.
 */
export function earlierDestination(
  provider: string,
  kind: CredentialKind,
  { digest, baseUrl }: { readonly digest: string; readonly baseUrl: string | undefined },
): string | undefined {
  return earlierDestinations(provider, kind)
    .map((destination) => withBaseUrl(destination, baseUrl))
    .find((text) => digestOf(text) === digest)
}

/** Newest first: each is told by its difference from the one after it. */
function earlierDestinations(provider: string, kind: CredentialKind): readonly JsonObject[] {
  let next = USUAL_DESTINATION[kind]
  return (EARLIER_DESTINATIONS[provider]?.[kind] ?? []).map((difference) => {
    next = mergePatch(next, difference)
    return next
  })
}

/**
 * Returns how the earlier destinations of one provider and kind are written down.
 * @param texts newest first, as {@link import('./destination-digest.ts').destinationText} writes them
 */
export function differencesOf(kind: CredentialKind, texts: readonly string[]): readonly JsonObject[] {
  const all = [USUAL_DESTINATION[kind], ...texts.map((text) => JSON.parse(text) as JsonObject)]
  return all.slice(1).map((one, at) => patchBetween(all[at] ?? {}, one))
}
