import type { Actor } from '../../protocol/index.ts'
import type { DueConnection, ServingConnections } from '../connections/index.ts'
import type { Providers } from '../providers/index.ts'
import type { GrantSubject } from './grant-state.ts'
import type { Renewals } from './renewals.ts'

export interface KeepFreshOptions {
  readonly connections: ServingConnections
  readonly providers: Providers
  readonly renewals: Pick<Renewals<GrantSubject, never>, 'renew'>
  readonly onFailure: (error: unknown) => void
  readonly lookEveryMs?: number
}

const LOOK_EVERY_MS = 10_000
/** At a look, and how many of them together. */
const MOST = 200
const AT_ONCE = 16

/**
 * Refreshes what is due, ahead of the requests that will need it. Those in use; and once a day those at rest, so that
 * their refresh tokens do not end for being idle.
 * @returns what ends it
 */
export function keepFresh(options: KeepFreshOptions): () => void {
  const { lookEveryMs = LOOK_EVERY_MS, onFailure } = options
  let stopped = false
  const look = async () => {
    await refreshDue(options).catch(onFailure)
    if (!stopped) timer = setTimeout(look, lookEveryMs).unref()
  }
  let timer = setTimeout(look, lookEveryMs).unref()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

async function refreshDue({ connections, providers, renewals }: KeepFreshOptions): Promise<void> {
  const due = (await connections.dueForRefresh(MOST)).values()
  const renewNext = async () => {
    for (const one of due) {
      const provider = providers.find(one.provider)
      const subject = provider && { actor: daemonFor(one), provider, id: one }
      // What became of it is stored with the connection.
      if (subject) await renewals.renew(subject, one.version, 'due').catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, renewNext))
}

/** The daemon acts by itself, for the principal whose connection it is. No identity can have such a handle. */
function daemonFor({ vaultId, principalId }: DueConnection): Actor {
  return { kind: 'daemon', identity: '(daemon)', vaultId, principalId, role: 'user' }
}
