import type { CredentialSource } from './credential-source.ts'
import { freshValue } from './fresh-value.ts'
import type { MintedState, MintedSubject } from './minted-state.ts'
import type { Renewals } from './renewals.ts'
import { resolutionOf } from './resolution.ts'

export interface MintedTokenOptions {
  readonly state: Pick<MintedState, 'read' | 'failed'>
  readonly renewals: Pick<Renewals<MintedSubject, never>, 'renew'>
  readonly now: () => number
}

/** A token that is got with the secret of a client, or a key that signs; neither is sent with the request. */
export function mintedToken({ state, renewals, now }: MintedTokenOptions): CredentialSource {
  return {
    async retrieve({ actor, provider, pattern, used, request }) {
      const subject = { actor, provider, used }
      const token = await freshValue(
        { read: () => state.read(subject), renew: (seen, cause) => renewals.renew(subject, seen, cause), now },
        await state.read(subject),
        request.rejected_version,
      )
      if (!token) throw state.failed(subject, 'it was let go of meanwhile')
      const { client_id: clientId } = used.credential.fields
      const credential = { access_token: token.value, ...(clientId && { client_id: clientId }) }
      const { connection } = used
      const carried = { provider: used.provider, connection, authType: 'oauth2', credential } as const
      return resolutionOf(provider, { ...carried, ...datesOf(token) }, pattern)
    },
  }
}

function datesOf({ version, expiresAt }: { readonly version: number; readonly expiresAt?: number }) {
  return { version, ...(expiresAt !== undefined && { expiresAt }) }
}
