/** `npm run bench`: ratios, each taken side by side in one run. `npm run bench -- proxy stream` picks measures. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { measureAsking } from './measure-asking.ts'
import { measureCatalogue } from './measure-catalogue.ts'
import { measureCopies } from './measure-copies.ts'
import { measureCrashes } from './measure-crashes.ts'
import { measureDashboard } from './measure-dashboard.ts'
import { measureHosted } from './measure-hosted.ts'
import { measureHttp2 } from './measure-http2.ts'
import { measurePreload } from './measure-preload.ts'
import { measureProxy } from './measure-proxy.ts'
import { measureRefresh } from './measure-refresh.ts'
import { measureStart } from './measure-start.ts'
import { measureStream } from './measure-stream.ts'
import { measureVault } from './measure-vault.ts'
import { type Finding, resultOf, tableOf } from './report.ts'
import { makeWorld, type World } from './world.ts'

const MEASURES: Readonly<Record<string, (world: World) => Promise<readonly Finding[]>>> = {
  proxy: measureProxy,
  asking: measureAsking,
  stream: measureStream,
  http2: measureHttp2,
  start: measureStart,
  preload: measurePreload,
  vault: measureVault,
  copies: measureCopies,
  catalogue: measureCatalogue,
  refresh: measureRefresh,
  hosted: measureHosted,
  crashes: measureCrashes,
  dashboard: measureDashboard,
}

const RESULTS = new URL('./results/', import.meta.url)

async function main(wanted: readonly string[]): Promise<void> {
  const unknown = wanted.filter((name) => !Object.hasOwn(MEASURES, name))
  if (unknown.length > 0) throw new Error(`There is no measure "${unknown.join()}"; there are ${Object.keys(MEASURES)}`)
  const chosen = Object.entries(MEASURES).filter(([name]) => wanted.length === 0 || wanted.includes(name))
  const started = performance.now()
  const findings = await take(chosen)
  const file = new URL(wanted.length === 0 ? 'latest.json' : `${wanted.join('-')}.json`, RESULTS)
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(file, `${JSON.stringify(resultOf(findings, (performance.now() - started) / 1000), null, 2)}\n`)
  process.stdout.write(`${tableOf(findings)}\n\nwritten to ${fileURLToPath(file)}\n`)
}

async function take(chosen: readonly (readonly [string, (world: World) => Promise<readonly Finding[]>])[]) {
  const world = await makeWorld()
  const findings: Finding[] = []
  try {
    for (const [name, measure] of chosen) {
      process.stderr.write(`${name}\n`)
      findings.push(...(await measure(world)))
    }
    return findings
  } finally {
    await world.close()
  }
}

await main(process.argv.slice(2))
