import { Secret } from '../../protocol/index.ts'
import { ProviderRefusal } from './provider-failure.ts'

/** Shorter ones are words: they stand in harmless texts too. */
const SHORTEST = 8

/** Returns whether a text repeats one of the secrets, in any letter case, and with whatever signs between its letters and digits. */
export function repeats(text: string, secrets: readonly Secret[]): boolean {
  const said = bare(text)
  return secrets.some((secret) => {
    const kept = bare(secret.reveal())
    return kept.length >= SHORTEST && said.includes(kept)
  })
}

// Percent-encoding leaves letters and digits as they are.
function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/%[0-9a-f]{2}/g, '')
    .replace(/[^a-z0-9]+/g, '')
}

/** What somebody may be sent along with a request. */
export interface Carrier {
  readonly client: { readonly id: string; readonly secret?: Secret; readonly assertion?: Secret }
}

/** The secrets among the members of a request, and its client's. */
export function secretsIn(request: Carrier): readonly Secret[] {
  return [...Object.values(request), request.client.secret, request.client.assertion].filter(
    (value) => value instanceof Secret,
  )
}

/** Some quote the request in their errors: such a refusal goes on without the words that do. */
export async function withoutEcho<Result>(sent: readonly Secret[], work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ProviderRefusal ? error.without((text) => repeats(text, sent)) : error
  }
}
