import type { Host } from '../../network/index.ts'
import type { Actor } from '../../protocol/index.ts'
import type { Explanation } from '../../schemas/index.ts'
import { type Audit, scopeFor } from '../audit/index.ts'

/** Newest first: the one of this host is among them, or it is long ago. */
const MOST_EVENTS = 100

/**
 * Adds what the newest request to the host met where its certificate was not trusted: the daemon gives the credential, and
 * the proxy cannot send it. A run learns nothing of other runs.
 */
export async function withLastTrouble(
  audit: Audit,
  actor: Actor,
  explained: Explanation,
  host: Host,
): Promise<Explanation> {
  const { verdict, provider, steps } = explained
  if (verdict !== 'inject' || provider === undefined || actor.run) return explained
  const query = { event: 'proxy.request', provider, limit: MOST_EVENTS } as const
  const { events } = await audit.page(scopeFor(actor), query)
  const last = events.find(({ request }) => request?.host === host)
  if (last?.reason !== 'tls_certificate') return explained
  return { ...explained, steps: [...steps, UNTRUSTED], fix: 'export BROKER_PROXY_CA_FILE=<authority.pem>' }
}

const UNTRUSTED: Explanation['steps'][number] = {
  step: 'upstream',
  result: 'tls_certificate',
  reason:
    'Its TLS certificate was not trusted at the newest request: set BROKER_PROXY_CA_FILE to the PEM file of its authority.',
}
