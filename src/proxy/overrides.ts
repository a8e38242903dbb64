import { createHash, X509Certificate } from 'node:crypto'
import { formatAuthority, rootsBeyondSystem } from '../network/index.ts'
import type { Overrides } from '../schemas/index.ts'
import { type ConnectTo, formatConnectTo } from './connect-to.ts'
import type { CorporateProxy } from './corporate-proxy.ts'

/** As many as a run may tell; the rest is a number. */
const MOST_TOLD = 100

/** Returns what of a proxy is not the machine's own; undefined where nothing is. No password is among it. */
export function overridesOf({
  upstreamCa,
  connectTo,
  corporateProxy,
}: {
  readonly upstreamCa: readonly string[]
  readonly connectTo: readonly ConnectTo[]
  readonly corporateProxy?: CorporateProxy
}): Overrides | undefined {
  const roots = rootsBeyondSystem(upstreamCa)
  const proxy = corporateProxy?.forHttps ?? corporateProxy?.forHttp
  if (roots.length === 0 && connectTo.length === 0 && proxy === undefined) return undefined
  return {
    ...(roots.length > 0 && { ca: digestOf(roots) }),
    ...(connectTo.length > 0 && { connect_to: told(connectTo.map(formatConnectTo)) }),
    ...(proxy && { proxy: `${proxy.tls ? 'https' : 'http'}://${formatAuthority(proxy)}` }),
  }
}

function told(entries: readonly string[]): string[] {
  if (entries.length <= MOST_TOLD) return [...entries]
  const shown = entries.slice(0, MOST_TOLD - 1)
  return [...shown, `and ${entries.length - shown.length} more`]
}

/** Of one root it is the fingerprint that every tool shows. */
function digestOf(roots: readonly string[]): string {
  const hash = createHash('sha256')
  for (const der of roots.map((root) => new X509Certificate(root).raw).toSorted(Buffer.compare)) hash.update(der)
  return `sha256:${hash.digest('hex')}`
}
