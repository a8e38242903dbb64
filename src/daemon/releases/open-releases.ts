import { auditedTarget, type ResolvedCredential } from '../../injection/index.ts'
import { HTTPS_PORT } from '../../network/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { ConnectionDetail, ResolveRequest } from '../../schemas/index.ts'
import type { Audit, InternalEvent } from '../audit/index.ts'
import type { ManagedConnections } from '../connections/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Store } from '../store/index.ts'
import { ReleaseNumbers } from './release-numbers.ts'

/** A credential that may leave: it has a number because it is recorded. */
interface Release {
  /** Unique in the deployment. */
  readonly number: number
  readonly credential: ResolvedCredential
}

/** By which door an answer leaves, and how many requests share it. */
interface Door {
  readonly how: 'resolve' | 'channel'
  readonly count?: number
}

export interface Releases {
  /**
   * The credential for one request, or for several that share it, recorded before this resolves.
   * @throws BrokerError as {@link Credentials.resolve}; OperationNotAllowedError where the setting says that this actor is
   *   handed none, DaemonUnavailableError where it cannot be recorded
   */
  release(actor: Actor, question: ResolveRequest, door: Door): Promise<Release>
  /** A connection with its secrets, recorded before this resolves. @throws BrokerError as {@link ManagedConnections.reveal} */
  reveal(actor: Actor, provider: string, connection: string): Promise<ConnectionDetail>
}

/** Who may be handed a secret: agents and the runs that they start, or runs alone. */
type ReleaseTo = 'identities' | 'runs'

export interface ReleasesOptions {
  readonly store: Store
  readonly audit: Audit
  readonly credentials: Pick<Credentials, 'resolve'>
  readonly connections: Pick<ManagedConnections, 'reveal'>
  readonly releaseTo?: ReleaseTo
}

export function openReleases(options: ReleasesOptions): Releases {
  const { store, audit, credentials, connections, releaseTo = 'identities' } = options
  const numbers = new ReleaseNumbers(store)
  const refuse = (actor: Actor) => {
    if (releaseTo === 'runs' && actor.kind === 'identity') throw onlyRuns()
  }
  const record = async (
    actor: Actor,
    about: Pick<InternalEvent, 'provider' | 'connection' | 'request' | 'details'>,
  ) => {
    const release = await numbers.take()
    const details = { release, ...about.details }
    await audit.recordAhead(actor, { event: 'credential.released', status: 'success', ...about, details })
    return release
  }
  return {
    async release(actor, question, { how, count = 1 }) {
      refuse(actor)
      const credential = await credentials.resolve(actor, question)
      const { provider, connection, made = how } = credential
      const details = { count, how: made }
      const number = await record(actor, { provider, connection, request: requestOf(question, credential), details })
      return { number, credential }
    },
    async reveal(actor, provider, connection) {
      refuse(actor)
      const detail = await connections.reveal(actor, provider, connection)
      await record(actor, { provider, connection, details: { count: 1, how: 'reveal' } })
      return detail
    },
  }
}

const LONGEST_PATH = 8192

/** Where the request goes, as the log may say: without its query, and without a key where the path carries one. */
function requestOf(
  { method = 'GET', host, port = HTTPS_PORT, path = '/' }: ResolveRequest,
  { places }: ResolvedCredential,
): NonNullable<InternalEvent['request']> {
  const shown = auditedTarget(places, path).replace(/[?#].*$/s, '')
  return { method, host: host.toLowerCase(), port, path: shown.slice(0, LONGEST_PATH) }
}

function onlyRuns(): BrokerError {
  return new BrokerError('OperationNotAllowedError', 'Only a run is handed a credential here', {
    hint: 'The owner has set BROKER_RELEASE_TO=runs. Use `broker run -- <command>`.',
  })
}
