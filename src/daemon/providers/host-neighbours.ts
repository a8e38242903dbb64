import type { HostPattern } from '../../network/index.ts'
import type { Provider } from './provider.ts'

/** Finds, of many providers, those few whose hosts one request could match beside those of another. */
export interface HostNeighbours {
  /** In the order in which they were added; without one of the same name. */
  of(provider: Pick<Provider, 'definition' | 'hosts'>): readonly Provider[]
  add(provider: Provider): void
}

/** Each pair of hundreds would take the daemon a second, in which it answers nobody. */
export function hostNeighbours(providers: readonly Provider[]): HostNeighbours {
  const order = new Map<Provider, number>()
  const byEnd = new Map<string, Set<Provider>>()
  const add = (provider: Provider) => {
    order.set(provider, order.size)
    for (const end of endsOf(provider.hosts)) byEnd.set(end, (byEnd.get(end) ?? new Set()).add(provider))
  }
  for (const provider of providers) add(provider)
  return {
    add,
    of({ definition, hosts }) {
      const near = new Set(endsOf(hosts).flatMap((end) => [...(byEnd.get(end) ?? [])]))
      return [...near]
        .filter((other) => other.definition.name !== definition.name)
        .toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
    },
  }
}

/** A wildcard is never among the last two labels: hosts that one request matches have these in common. */
function endsOf(hosts: readonly HostPattern[]): readonly string[] {
  return hosts.map(({ hostPattern, port }) => `${hostPattern.split('.').slice(-2).join('.')} ${port}`)
}
