import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AtHandOptions, ProxyReady } from './at-hand-proxy.ts'
import { startServer } from './child-process.ts'
import { INHERITED } from './inherited-way.ts'
import type { LoadPlan, Round } from './load.ts'
import { atLeast, type Finding, type Target } from './report.ts'
import { startMitmproxy, startMockttp } from './rivals.ts'
import { median, type Ratio, ratioOf } from './statistics.ts'
import type { Way } from './way.ts'
import { behindBroker, HOST, KEY, PLACEHOLDER, UNROUTED_HOST, type World } from './world.ts'

const CONNECTIONS = [1, 16]
const DIRECT = 'direct'
const PRODUCT = 'asked on each request'
const AT_HAND = 'credential at hand'

const TARGETS: Readonly<Record<string, number>> = { [AT_HAND]: 0.45, [PRODUCT]: 0.35 }

/** Requests by every way, side by side in one process behind `broker run`. */
export async function measureProxy(world: World): Promise<readonly Finding[]> {
  const { upstream, folder, connectTo } = world
  const atHand = await startServer<ProxyReady>('./at-hand-proxy.ts', {
    host: HOST,
    key: KEY,
    connectTo,
    upstreamCa: upstream.caPem,
  } satisfies AtHandOptions)
  const rivals = await Promise.all([startMitmproxy(world), startMockttp(world)])
  const own = { host: HOST, port: upstream.port, caPem: upstream.caPem, authorization: `Bearer ${KEY}` }
  const injected = { ...own, authorization: `Bearer ${PLACEHOLDER}` }
  const ways: Way[] = [
    { ...own, name: DIRECT },
    { ...own, name: 'untouched tunnel', host: UNROUTED_HOST, proxyUrl: INHERITED },
    { ...injected, ...atHand.ready, name: AT_HAND },
    { ...injected, name: PRODUCT, proxyUrl: INHERITED, caPem: INHERITED },
    ...rivals.flatMap(({ name, proxy }) => (proxy ? [{ ...injected, ...proxy.ready, name }] : [])),
  ]
  const file = join(folder, 'load-plan.json')
  writeFileSync(
    file,
    JSON.stringify({ ways, connections: CONNECTIONS, rounds: 12, milliseconds: 400 } satisfies LoadPlan),
  )
  try {
    const rounds = await behindBroker<Round[]>(world, './load.ts', file)
    return CONNECTIONS.flatMap((connections) => [
      ...ways.map(({ name }) => findingOf(name, connections, rounds)),
      ...rivals.filter(({ proxy }) => !proxy).map(({ name }) => leftOut(name, connections)),
    ])
  } finally {
    await Promise.all([atHand.stop(), ...rivals.map(({ proxy }) => proxy?.stop())])
  }
}

function findingOf(name: string, connections: number, all: readonly Round[]): Finding {
  const roundsOf = (way: string) => all.filter((round) => round.way === way && round.connections === connections)
  const rounds = roundsOf(name)
  const ratio = ratioOf(rates(rounds), rates(roundsOf(DIRECT)))
  return {
    measure: label(name, connections),
    ...(name !== DIRECT && { ratio }),
    ...targetOf(name, connections, ratio),
    raw: {
      'req/s': median(rates(rounds)),
      'p50 ms': median(rounds.map(({ p50 }) => p50)),
      'p99 ms': median(rounds.map(({ p99 }) => p99)),
    },
  }
}

function rates(rounds: readonly Round[]): readonly number[] {
  return rounds.map(({ rate }) => rate)
}

function targetOf(name: string, connections: number, ratio: Ratio): { readonly target?: Target } {
  const limit = connections === 16 ? TARGETS[name] : undefined
  return limit === undefined ? {} : { target: atLeast(limit, ratio) }
}

function leftOut(name: string, connections: number): Finding {
  return { measure: label(name, connections), raw: {}, leftOut: 'left out: not installed' }
}

function label(name: string, connections: number): string {
  return `proxy, ${connections === 1 ? '1 connection' : `${connections} connections`}: ${name}`
}
