import type { Host } from '../../network/index.ts'
import type { Actor } from '../../protocol/index.ts'
import type { Explanation } from '../../schemas/index.ts'
import { type Audit, scopeFor } from '../audit/index.ts'

/** Newest first: the one of this host is among them, or it is long ago. */
const MOST_EVENTS = 100

/**
 * Adds what the newest request to the host met where its certificate would not do: the daemon gives the credential, and
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
  const { reason: result = '' } = last ?? {}
  const reason = Object.hasOwn(TROUBLES, result) ? TROUBLES[result] : undefined
  if (reason === undefined) return explained
  const more = [...steps, { step: 'upstream', result, reason }]
  return result === 'tls_certificate' ? { ...explained, steps: more, fix: FIX } : { ...explained, steps: more }
}

const FIX = 'export BROKER_PROXY_CA_FILE=<authority.pem>'

/** By the reason in the audit log. */
const TROUBLES: Readonly<Record<string, string>> = {
  tls_certificate:
    'Its TLS certificate was not trusted at the newest request: set BROKER_PROXY_CA_FILE to the PEM file of its authority.',
  tls_name:
    'Its TLS certificate was for another name at the newest request: check the name in the URL, or the service.',
  tls_dates:
    'Its TLS certificate had ended, or was not valid yet, at the newest request: check the clock here, or the service.',
}
