import type { UsableConnection } from '../connections/index.ts'
import type { CredentialSource } from './credential-source.ts'
import { type Dated, freshValue } from './fresh-value.ts'
import type { GrantSubject } from './grant-state.ts'
import type { Renewals } from './renewals.ts'
import { resolutionOf } from './resolution.ts'

export interface RefreshedGrantOptions {
  readonly renewals: Pick<Renewals<GrantSubject, never>, 'renew'>
  readonly now: () => number
}

/** The access token of a login by OAuth, refreshed where there is a refresh token. Nothing is used that is not stored. */
export function refreshedGrant({ renewals, now }: RefreshedGrantOptions): CredentialSource {
  return {
    async retrieve({ actor, provider, pattern, used: first, again, request }) {
      const subject = { actor, provider, id: first }
      const used = first.refreshable ? await fresh(first) : first
      const { version, refreshable, credential, ...carried } = used
      const token = { credential: credential.fields, authType: 'oauth2', ...(refreshable && { version }) } as const
      return resolutionOf(provider, { ...carried, ...token }, pattern)

      async function fresh(used: UsableConnection): Promise<UsableConnection> {
        const renewable = {
          read: async () => dated(await again()),
          renew: renewals.renew.bind(renewals, subject),
          now,
        }
        return (await freshValue(renewable, dated(used), request.rejected_version)).value
      }
    },
  }
}

function dated(used: UsableConnection): Dated<UsableConnection> {
  const { version, refresh, expiresAt } = used
  return { value: used, version, ...refresh, ...(expiresAt !== undefined && { expiresAt }) }
}
