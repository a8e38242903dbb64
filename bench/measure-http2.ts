import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer } from './child-process.ts'
import type { Http2Found, Http2Plan, Http2Round } from './h2-load.ts'
import { INHERITED } from './inherited-way.ts'
import { atLeast, below, type Finding } from './report.ts'
import { median, ratioOf } from './statistics.ts'
import type { UpstreamOptions, UpstreamReady } from './upstream.ts'
import { behindBroker, HOST, KEY, PLACEHOLDER, type World } from './world.ts'

const GIBIBYTE = 1024 ** 3
const DIRECT = 'direct'
const PROXY = 'proxy'

/** HTTP/2 on both legs, beside the same service asked directly. */
export async function measureHttp2(world: World): Promise<readonly Finding[]> {
  const { folder, env } = world
  const options: UpstreamOptions = { hosts: [HOST], key: KEY }
  const upstream = await startServer<UpstreamReady>('./h2-upstream.ts', options)
  const { port, caPem } = upstream.ready
  const caFile = join(folder, 'h2-upstream-ca.pem')
  writeFileSync(caFile, caPem)
  const direct = { name: DIRECT, host: HOST, port, caPem, authorization: `Bearer ${KEY}` }
  const inherited = { proxyUrl: INHERITED, caPem: INHERITED, authorization: `Bearer ${PLACEHOLDER}` }
  const ways = [direct, { ...direct, ...inherited, name: PROXY }]
  const plan: Http2Plan = { ways, rounds: 10, milliseconds: 500, bytes: GIBIBYTE, transfers: 3 }
  const file = join(folder, 'http2-plan.json')
  writeFileSync(file, JSON.stringify(plan))
  const there = { BROKER_PROXY_CA_FILE: caFile, BROKER_PROXY_CONNECT_TO: `${HOST}:443:127.0.0.1:${port}` }
  try {
    const found = await behindBroker<Http2Found>({ ...world, env: { ...env, ...there } }, './h2-load.ts', file)
    return [rate(found), later(found, 'p50'), later(found, 'first'), transferred(found), memory(found)]
  } finally {
    await upstream.stop()
  }
}

function valuesOf({ rounds }: Http2Found, way: string, value: Exclude<keyof Http2Round, 'way'>): readonly number[] {
  return rounds.filter((round) => round.way === way).map((round) => round[value])
}

function rate(found: Http2Found): Finding {
  const [direct, proxied] = [valuesOf(found, DIRECT, 'rate'), valuesOf(found, PROXY, 'rate')]
  const ratio = ratioOf(proxied, direct)
  return {
    measure: 'http2: 100 streams on one connection',
    ratio,
    target: atLeast(0.3, ratio),
    raw: { 'req/s': median(proxied), 'direct req/s': median(direct) },
  }
}

const LATER = {
  p50: { what: 'one stream, p50 later than direct by', limit: 0.4 },
  first: { what: 'first message of a stream that stays open, later than direct by', limit: 5 },
} as const

function later(found: Http2Found, value: keyof typeof LATER): Finding {
  const [direct, proxied] = [DIRECT, PROXY].map((way) => median(valuesOf(found, way, value)))
  const late = (proxied ?? Number.NaN) - (direct ?? Number.NaN)
  const { what, limit } = LATER[value]
  return {
    measure: `http2: ${what}`,
    target: below(limit, 'ms', late),
    raw: { 'later ms': late, 'direct ms': direct ?? Number.NaN, 'proxy ms': proxied ?? Number.NaN },
  }
}

function transferred({ transfers }: Http2Found): Finding {
  const rates = (name: string) => transfers.filter(({ way }) => way === name).map((one) => one.rate)
  const ratio = ratioOf(rates(PROXY), rates(DIRECT))
  return {
    measure: 'http2: 1 GiB down',
    ratio,
    target: atLeast(0.3, ratio),
    raw: { 'MB/s': median(rates(PROXY)), 'direct MB/s': median(rates(DIRECT)) },
  }
}

function memory({ idleMemory }: Http2Found): Finding {
  const measure = 'http2: memory of `broker run` for 1,000 idle streams'
  if (idleMemory === undefined) return { measure, raw: {}, leftOut: 'left out: this system does not tell' }
  return { measure, raw: { MB: idleMemory } }
}
