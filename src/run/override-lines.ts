import type { Overrides } from '../schemas/index.ts'

const MOST_NAMED = 3

/**
 * Says what of a run's proxy is not the machine's own, one line each. The proxy of the run around it is not worth one:
 * that run has said what is its own.
 */
export function overrideLines(
  { ca, connect_to: connectTo = [], proxy }: Overrides,
  { isInner }: { readonly isInner: boolean },
): readonly string[] {
  const named = connectTo.slice(0, MOST_NAMED).join(', ')
  const others = connectTo.length - MOST_NAMED
  return [
    ...(ca ? [`This run trusts authorities that the system does not (${ca})`] : []),
    ...(connectTo.length > 0
      ? [`This run dials other addresses than the hosts' own: ${named}${others > 0 ? ` and ${others} more` : ''}`]
      : []),
    ...(proxy && !isInner ? [`This run goes out through the proxy ${proxy}`] : []),
  ]
}
