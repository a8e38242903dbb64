import type { ResolvedCredential } from '../../injection/index.ts'
import type { ProviderDefinition } from '../../schemas/index.ts'
import type { UsableConnection } from '../connections/index.ts'
import type { CredentialSource, Retrieval } from './credential-source.ts'
import { type MintedTokenOptions, mintedToken } from './minted-token.ts'
import { type RefreshedGrantOptions, refreshedGrant } from './refreshed-grant.ts'
import { resolutionOf } from './resolution.ts'
import { signedResolution } from './signed-resolution.ts'

type SourceKind = 'static key' | 'refreshed grant' | 'minted token' | 'request signature'

export interface SourcesOptions {
  readonly grants: RefreshedGrantOptions['renewals']
  readonly minted: Omit<MintedTokenOptions, 'now'>
  readonly now: () => number
}

/** The one source of credentials: which kind of it a connection needs is in what it holds. */
export function openSources({ grants, minted, now }: SourcesOptions): CredentialSource {
  const sources: Readonly<Record<SourceKind, CredentialSource>> = {
    'static key': { retrieve: async (retrieval) => sent(retrieval) },
    'refreshed grant': refreshedGrant({ renewals: grants, now }),
    'minted token': mintedToken({ ...minted, now }),
    'request signature': { retrieve: async (retrieval) => signedResolution(retrieval, now()) },
  }
  return {
    async retrieve(retrieval) {
      const kind = kindFor(retrieval.provider.definition, retrieval.used)
      const credential = await sources[kind].retrieve(retrieval)
      const made = MADE[kind]
      return made === undefined ? credential : { ...credential, made }
    },
  }
}

const MADE: Readonly<Partial<Record<SourceKind, ResolvedCredential['made']>>> = {
  'minted token': 'token',
  'request signature': 'signature',
}

function kindFor({ signing }: ProviderDefinition, { credential }: UsableConnection): SourceKind {
  switch (credential.kind) {
    case 'api_key':
      return 'static key'
    case 'oauth2':
      return 'refreshed grant'
    case 'client_credentials':
      return 'minted token'
    case 'signing':
      return signing?.type === 'aws_sigv4' ? 'request signature' : 'minted token'
  }
}

/** As it was entered. */
function sent({ provider, pattern, used }: Retrieval): ResolvedCredential {
  const { credential, connection } = used
  const carried = { provider: used.provider, connection, authType: 'api_key', credential: credential.fields } as const
  return resolutionOf(provider, carried, pattern)
}
