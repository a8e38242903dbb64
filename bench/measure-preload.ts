import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathOf, run } from './child-process.ts'
import { INHERITED } from './inherited-way.ts'
import type { ConnectionsPlan, ConnectionTimes } from './new-connections.ts'
import { below, type Finding } from './report.ts'
import { median, ratioOf } from './statistics.ts'
import { behindBroker, UNROUTED_HOST, type World } from './world.ts'

const STARTS = 40
const START_LIMIT_MS = 5
const CONNECTIONS = 1_000
const CONNECTION_LIMIT_MS = 0.2

/** What the preload of `broker run` costs each Node program: its start, and each new connection. */
export async function measurePreload(world: World): Promise<readonly Finding[]> {
  return [...(await coldStart()), await newConnection(world)]
}

/**
 * Timed by the child itself: a whole start scatters by more than the preload takes. Beside it, what the whole start takes,
 * and what it took when Node was told to use the proxy by itself.
 */
async function coldStart(): Promise<readonly Finding[]> {
  const environment = { ...process.env, HTTPS_PROXY: 'http://bench:bench@127.0.0.1:9', NO_PROXY: 'localhost,127.0.0.1' }
  const preload = JSON.stringify(pathOf('../src/run/preload.cjs'))
  const timed = `const started = performance.now(); require(${preload}); console.log(performance.now() - started)`
  const starts = {
    empty: { args: ['-e', '0'], env: environment },
    byItself: { args: ['-e', '0'], env: { ...environment, NODE_USE_ENV_PROXY: '1' } },
    loading: { args: ['-e', timed], env: environment },
    // As in every program that prints to a pipe or a terminal.
    loadingWithSockets: { args: ['-e', `require('node:net'); ${timed}`], env: environment },
  }
  const names = Object.keys(starts) as (keyof typeof starts)[]
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<keyof typeof starts, number[]>
  for (let round = -1; round < STARTS; round++) {
    for (const name of names) {
      const started = performance.now()
      const said = await run({ file: process.execPath, ...starts[name] })
      if (round >= 0) times[name].push(said === '' ? performance.now() - started : Number(said))
    }
  }
  const loading = (measure: string, name: 'loading' | 'loadingWithSockets'): Finding => ({
    measure: `preload: ${measure}`,
    target: below(START_LIMIT_MS, 'ms', median(times[name])),
    raw: { ms: median(times[name]), '`node -e 0` ms': median(times.empty) },
  })
  return [
    loading('in a program that does nothing', 'loading'),
    loading('in a program that has loaded node:net', 'loadingWithSockets'),
    {
      measure: 'preload: NODE_USE_ENV_PROXY=1 in its place, to without',
      ratio: ratioOf(times.byItself, times.empty),
      raw: { 'more ms': differenceOf(times.byItself, times.empty) },
    },
  ]
}

async function newConnection(world: World): Promise<Finding> {
  const { port, caPem } = world.upstream
  const way = { name: 'asked', host: UNROUTED_HOST, port, caPem, authorization: '', proxyUrl: INHERITED }
  const file = join(world.folder, 'connections-plan.json')
  writeFileSync(file, JSON.stringify({ way, rounds: CONNECTIONS } satisfies ConnectionsPlan))
  const { led, asked } = await behindBroker<ConnectionTimes>(world, './new-connections.ts', file)
  return {
    measure: 'preload: new TLS connection, led to one that asks for its tunnel',
    ratio: { median: median(led) / median(asked), spread: spreadOf(led, asked) },
    target: below(CONNECTION_LIMIT_MS, 'ms more', differenceOf(led, asked)),
    raw: { 'more ms': differenceOf(led, asked), ms: median(led), 'asking ms': median(asked) },
  }
}

/** Single connections scatter; a tenth of them together less so. */
function spreadOf(values: readonly number[], baseline: readonly number[]): readonly [number, number] {
  const size = Math.ceil(values.length / 10)
  const ratios = Array.from({ length: 10 }, (_, index) => {
    const part = [index * size, (index + 1) * size] as const
    return median(values.slice(...part)) / median(baseline.slice(...part))
  })
  return [Math.min(...ratios), Math.max(...ratios)]
}

function differenceOf(values: readonly number[], baseline: readonly number[]): number {
  return median(values.map((value, index) => value - (baseline[index] ?? Number.NaN)))
}
