import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { definitionFolder, openProviders, type Provider, type Target } from '../src/daemon/providers/index.ts'
import { authority } from '../src/network/index.ts'
import { run } from './child-process.ts'
import { below, type Finding } from './report.ts'
import { median, percentile } from './statistics.ts'
import type { World } from './world.ts'

const DEFINITIONS = 1_000
const ROUNDS = 9
const ROUNDS_OF_MATCHING = 200
const BUNDLED = fileURLToPath(new URL('../providers', import.meta.url))
const OPENER = fileURLToPath(new URL('./open-catalogue.ts', import.meta.url))

/** What many definitions cost: once when the daemon starts, and for each request that is matched among them. */
export async function measureCatalogue({ folder }: World): Promise<readonly Finding[]> {
  const many = join(folder, 'many-definitions')
  const bundled = openProviders({ bundledDir: BUNDLED, custom: definitionFolder('/nowhere') }).list()
  writeDefinitions(many, bundled)
  return [await measureOpening(folder, bundled.length), measureMatching(many)]
}

async function measureOpening(folder: string, count: number): Promise<Finding> {
  const empty = join(folder, 'no-definitions')
  mkdirSync(empty)
  const times = { all: [] as number[], none: [] as number[] }
  for (let round = 1; round <= ROUNDS; round++) {
    times.all.push(await openingTime(BUNDLED))
    times.none.push(await openingTime(empty))
  }
  const beyond = median(times.all.map((time, round) => time - (times.none[round] ?? Number.NaN)))
  return {
    measure: `catalogue: start with all ${count} definitions, beyond none`,
    target: below(150, 'ms', beyond),
    raw: { 'beyond ms': beyond },
  }
}

async function openingTime(dir: string): Promise<number> {
  return Number(await run({ file: process.execPath, args: [OPENER, dir] }))
}

function measureMatching(dir: string): Finding {
  const providers = openProviders({ bundledDir: dir, custom: definitionFolder('/nowhere') })
  const targets = providers.list().flatMap(targetsOf)
  const times: number[] = []
  for (let round = 0; round < ROUNDS_OF_MATCHING; round++) {
    for (const target of targets) {
      const started = performance.now()
      providers.match(target)
      times.push((performance.now() - started) * 1_000)
    }
  }
  const late = times.slice(times.length / 4)
  const p99 = percentile(late, 0.99)
  return {
    measure: `catalogue: match among ${providers.list().length} definitions, p99`,
    target: below(20, 'µs', p99),
    raw: { 'p50 µs': median(late), 'p99 µs': p99 },
  }
}

/** One that is there, one whose wildcard it takes, and one that is nobody's. */
function targetsOf({ hosts: [first] }: Provider): readonly Target[] {
  if (!first) return []
  const host = first.hostPattern.replace('*', 'acme')
  const path = `${first.pathPrefix ?? '/'}v1/things`
  return [
    { ...authority(host, first.port), path },
    { ...authority(`${host}.elsewhere.example`, first.port), path },
  ]
}

/** The bundled ones, and copies of them at other hosts. */
function writeDefinitions(dir: string, bundled: readonly Provider[]): void {
  mkdirSync(dir)
  for (let number = 0; number < DEFINITIONS; number++) {
    const definition = bundled[number % bundled.length]?.definition
    if (!definition) continue
    const isCopy = number >= bundled.length
    const copy = { ...definition, name: `copy-${number}`, hosts: [`api${number}.copy.example`], base_url: undefined }
    const one = isCopy ? { ...copy, oauth: undefined, auth_type: 'api_key', flow: 'api_key', api_key: {} } : definition
    writeFileSync(
      join(dir, `${one.name}.json`),
      JSON.stringify({ ...one, ...(isCopy && { injections: undefined, env: {} }) }),
    )
  }
}
