import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient } from '../client/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { AuthSession } from '../schemas/index.ts'
import { cancelled } from './prompt.ts'
import type { Terminal } from './terminal.ts'

const LOOK_AGAIN = 1_000
/** How long a daemon may be away while somebody logs in: it may be started anew, or another one take its place. */
const AWAY_LIMIT = 10_000

export function isOver({ status }: AuthSession): boolean {
  return status === 'completed' || status === 'failed' || status === 'expired' || status === 'cancelled'
}

/**
 * Follows a session until it is over or asks for something else than it does now.
 * @throws BrokerError InputCancelledError where `signal` fires first, or where the daemon does not know the session any more
 */
export async function untilNext(
  client: DaemonClient,
  session: AuthSession,
  signal: AbortSignal,
  onLook?: (latest: AuthSession) => void,
): Promise<AuthSession> {
  const waitsFor = new Set([session.next_action.type, 'none'])
  let latest = session
  let awaySince: number | undefined
  while (!isOver(latest) && waitsFor.has(latest.next_action.type)) {
    onLook?.(latest)
    await delay(LOOK_AGAIN, undefined, { signal }).catch(() => {
      throw cancelled()
    })
    try {
      latest = await look(client, session)
      awaySince = undefined
    } catch (error) {
      awaySince ??= performance.now()
      if (!isAway(error) || performance.now() - awaySince > AWAY_LIMIT) throw error
    }
  }
  return latest
}

function isAway(error: unknown): boolean {
  return error instanceof BrokerError && error.name === 'DaemonUnavailableError'
}

async function look(client: DaemonClient, { id, provider }: AuthSession): Promise<AuthSession> {
  try {
    return await client.authSession(id)
  } catch (cause) {
    if (!(cause instanceof BrokerError) || cause.name !== 'NotFoundError') throw cause
    throw new BrokerError('InputCancelledError', 'The daemon was started again and has lost this login', {
      provider,
      hint: `Log in again: broker login ${provider}`,
      cause,
    })
  }
}

/** The same with somebody watching: what is waited for, and how long it may take. */
export async function watchUntilNext(
  client: DaemonClient,
  session: AuthSession,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<AuthSession> {
  const spinner = terminal.spin(waiting(session))
  try {
    return await untilNext(client, session, signal, (latest) => spinner.update(waiting(latest)))
  } finally {
    spinner.stop()
  }
}

function waiting(session: AuthSession): string {
  return `${session.message ?? 'Waiting'}, ${timeLeft(session)} (Ctrl-C to cancel)`
}

export function timeLeft({ expires_at }: AuthSession): string {
  const seconds = Math.max(0, Math.round((Date.parse(expires_at) - Date.now()) / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`
}
