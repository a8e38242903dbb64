import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { INHERITED } from './inherited-way.ts'
import { below, type Finding } from './report.ts'
import { median, ratioOf } from './statistics.ts'
import type { Streamed, StreamPlan } from './streams.ts'
import { behindBroker, HOST, KEY, PLACEHOLDER, type World } from './world.ts'

const GIBIBYTE = 1024 ** 3
const DIRECT = 'direct'
const PROXY = 'proxy'
/** Nothing is held back: what passes through may come later by no more than a hop costs. */
const FIRST_BYTE_LIMIT_MS = 20
const MEMORY_LIMIT_MB = 150

/** What passes at length: the first byte of a slow answer, and 1 GiB each way in flat memory. */
export async function measureStream(world: World): Promise<readonly Finding[]> {
  const { upstream, folder } = world
  const direct = {
    name: DIRECT,
    host: HOST,
    port: upstream.port,
    caPem: upstream.caPem,
    authorization: `Bearer ${KEY}`,
  }
  const proxied = {
    ...direct,
    name: PROXY,
    proxyUrl: INHERITED,
    caPem: INHERITED,
    authorization: `Bearer ${PLACEHOLDER}`,
  }
  const file = join(folder, 'stream-plan.json')
  const plan: StreamPlan = { ways: [direct, proxied], bytes: GIBIBYTE, rounds: 3, firstByteRounds: 5 }
  writeFileSync(file, JSON.stringify(plan))
  const found = await behindBroker<Streamed>(world, './streams.ts', file)
  return [firstByte(found), transferred(found, 'down'), transferred(found, 'up'), memory(found)]
}

function firstByte({ firstBytes }: Streamed): Finding {
  const of = (name: string) => firstBytes.filter(({ way }) => way === name)
  const [direct, proxied] = [of(DIRECT), of(PROXY)].map((all) => median(all.map(({ first }) => first)))
  const late = (proxied ?? Number.NaN) - (direct ?? Number.NaN)
  return {
    measure: 'stream: first byte of a slow answer, later than direct by',
    target: below(FIRST_BYTE_LIMIT_MS, 'ms', late),
    raw: {
      'later ms': late,
      'direct ms': direct ?? Number.NaN,
      'proxy ms': proxied ?? Number.NaN,
      'whole answer ms': median(of(PROXY).map(({ whole }) => whole)),
    },
  }
}

function transferred({ transfers }: Streamed, direction: 'down' | 'up'): Finding {
  const rates = (name: string) =>
    transfers.filter((one) => one.way === name && one.direction === direction).map(({ rate }) => rate)
  return {
    measure: `stream: 1 GiB ${direction}`,
    ratio: ratioOf(rates(PROXY), rates(DIRECT)),
    raw: { 'MB/s': median(rates(PROXY)), 'direct MB/s': median(rates(DIRECT)) },
  }
}

function memory({ peakMemory }: Streamed): Finding {
  const measure = 'stream: peak resident memory of `broker run`'
  if (peakMemory === undefined) return { measure, raw: {}, leftOut: 'left out: this system does not tell' }
  return { measure, target: below(MEMORY_LIMIT_MB, 'MB', peakMemory), raw: { MB: peakMemory } }
}
