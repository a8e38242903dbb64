import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AtHandOptions, ProxyReady } from './at-hand-proxy.ts'
import { startServer } from './child-process.ts'
import { INHERITED } from './inherited-way.ts'
import type { Load, LoadPlan, Round } from './load.ts'
import { atLeast, type Finding } from './report.ts'
import { startMitmproxy, startMockttp } from './rivals.ts'
import { median, ratioOf } from './statistics.ts'
import type { Way } from './way.ts'
import { behindBroker, HOST, KEY, PLACEHOLDER, UNROUTED_HOST, type World } from './world.ts'

interface Loaded {
  readonly load: Load
  readonly connections: number
}

const LOADS: readonly Loaded[] = [
  { load: 'small', connections: 1 },
  { load: 'small', connections: 16 },
  { load: 'paths', connections: 16 },
  { load: 'uploads', connections: 16 },
]
const DIRECT = 'direct'
const TUNNEL = 'untouched tunnel'
const PRODUCT = 'asked on each request'
const AT_HAND = 'credential at hand'

/** By way, load and connections. */
const TARGETS: Readonly<Record<string, number>> = {
  [`${AT_HAND}, small, 16`]: 0.45,
  [`${PRODUCT}, small, 1`]: 0.2,
  [`${PRODUCT}, small, 16`]: 0.35,
  [`${PRODUCT}, paths, 16`]: 0.28,
  [`${PRODUCT}, uploads, 16`]: 0.45,
}

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
    { ...own, name: TUNNEL, host: UNROUTED_HOST, proxyUrl: INHERITED },
    { ...injected, ...atHand.ready, name: AT_HAND },
    { ...injected, name: PRODUCT, proxyUrl: INHERITED, caPem: INHERITED },
    ...rivals.flatMap(({ name, proxy }) => (proxy ? [{ ...injected, ...proxy.ready, name }] : [])),
  ]
  // Others are compared by what each of them is measured by.
  const others = rivals.map(({ name }) => name)
  const loads = LOADS.map((one) => (one.load === 'small' ? one : { ...one, without: others }))
  const file = join(folder, 'load-plan.json')
  writeFileSync(file, JSON.stringify({ ways, loads, rounds: 12, milliseconds: 400 } satisfies LoadPlan))
  try {
    const rounds = await behindBroker<Round[]>(world, './load.ts', file)
    return LOADS.flatMap((loaded) => [
      ...ways
        .filter(({ name }) => loaded.load === 'small' || !others.includes(name))
        .map(({ name }) => findingOf(name, loaded, rounds)),
      toTunnel(loaded, rounds),
      ...rivals.filter(({ proxy }) => !proxy && loaded.load === 'small').map(({ name }) => leftOut(name, loaded)),
    ])
  } finally {
    await Promise.all([atHand.stop(), ...rivals.map(({ proxy }) => proxy?.stop())])
  }
}

function findingOf(name: string, loaded: Loaded, all: readonly Round[]): Finding {
  const rounds = roundsOf(all, name, loaded)
  const ratio = ratioOf(rates(rounds), rates(roundsOf(all, DIRECT, loaded)))
  const limit = TARGETS[`${name}, ${loaded.load}, ${loaded.connections}`]
  return {
    measure: label(name, loaded),
    ...(name !== DIRECT && { ratio }),
    ...(limit !== undefined && { target: atLeast(limit, ratio) }),
    raw: {
      'req/s': median(rates(rounds)),
      'p50 ms': median(rounds.map(({ p50 }) => p50)),
      'p99 ms': median(rounds.map(({ p99 }) => p99)),
    },
  }
}

/** What opening requests and asking for them costs, beside passing their bytes on. */
function toTunnel(loaded: Loaded, all: readonly Round[]): Finding {
  const [product, tunnel] = [PRODUCT, TUNNEL].map((name) => rates(roundsOf(all, name, loaded)))
  const ratio = ratioOf(product ?? [], tunnel ?? [])
  const isHeld = loaded.load === 'small' && loaded.connections === 16
  return {
    measure: label(`${PRODUCT}, to the ${TUNNEL}`, loaded),
    ratio,
    ...(isHeld && { target: atLeast(0.65, ratio) }),
    raw: {},
  }
}

function roundsOf(all: readonly Round[], way: string, { load, connections }: Loaded): readonly Round[] {
  return all.filter((one) => one.way === way && one.load === load && one.connections === connections)
}

function rates(rounds: readonly Round[]): readonly number[] {
  return rounds.map(({ rate }) => rate)
}

function leftOut(name: string, loaded: Loaded): Finding {
  return { measure: label(name, loaded), raw: {}, leftOut: 'left out: not installed' }
}

const LOAD_NAMES: Readonly<Record<Load, string>> = {
  small: '',
  paths: ', each its own path',
  uploads: ', 64 KiB uploads',
}

function label(name: string, { load, connections }: Loaded): string {
  const many = connections === 1 ? '1 connection' : `${connections} connections`
  return `proxy, ${many}${LOAD_NAMES[load]}: ${name}`
}
