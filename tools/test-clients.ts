/**
 * `npm run test:clients`: runs every client of the matrix behind the real `broker run`, prints what became of each, and writes
 * docs/clients.md. `--only <pattern>` runs those whose title matches and writes nothing. Fails where a client fails that should
 * not, and says so where one works that was known not to.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cacheFolder } from '../test/clients/cache.ts'
import type { Client } from '../test/clients/client.ts'
import { clients, titleOf } from '../test/clients/clients.ts'
import { type Installed, install } from '../test/clients/install.ts'
import { type Outcome, runClient, worked } from '../test/clients/run-client.ts'
import { clientsPage, clientsTable, countsOf, type LeftOut } from '../test/clients/table.ts'
import { makeWorld, type World } from '../test/clients/world.ts'
import { installDebianPackages, mayInstallDebianPackages } from './debian-packages.ts'
import { root } from './source-files.ts'

const AT_ONCE = 2

const { only, verbose } = parseArgs({ options: { only: { type: 'string' }, verbose: { type: 'boolean' } } }).values
const wanted = clients.filter((client) => new RegExp(only ?? '', 'i').test(titleOf(client)))
const outcomes: Outcome[] = []
const leftOut: LeftOut[] = []
const cleanups: (() => unknown)[] = []

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanUp().then(() => process.exit(1)))
say(`clients from npm are kept in ${cacheFolder}`)
installPrograms()
try {
  const world = await makeWorld({ after: (task) => cleanups.push(task) })
  const waiting = wanted.values()
  await Promise.all(Array.from({ length: AT_ONCE }, () => runAll(world, waiting)))
} finally {
  await cleanUp()
}
process.stdout.write(`${clientsTable(outcomes)}\n`)
for (const { title, reason } of leftOut) process.stdout.write(`left out: ${title}: ${reason}\n`)
process.stdout.write(`${countsOf(outcomes, leftOut)}\n`)
if (only === undefined) writeFileSync(join(root, 'docs/clients.md'), clientsPage(outcomes, leftOut))
const surprises = outcomes.filter((outcome) => worked(outcome) && outcome.client.fails !== undefined)
for (const { client } of surprises) say(`${titleOf(client)} works now: take its \`fails\` away`)
process.exitCode = outcomes.every((outcome) => worked(outcome) || outcome.client.fails !== undefined) ? 0 : 1

async function cleanUp(): Promise<void> {
  for (const task of cleanups.splice(0).toReversed()) await task()
}

/** What Debian has, where that may be done. */
function installPrograms(): void {
  const missing = wanted.flatMap(({ programs = {} }) => Object.entries(programs)).filter(([file]) => !existsSync(file))
  const packages = [...new Set(missing.flatMap(([, names]) => names.split(' ')))]
  if (packages.length > 0 && mayInstallDebianPackages()) installDebianPackages(packages, say)
}

/** Takes one after the other from what is waiting. */
async function runAll(world: World, waiting: Iterator<Client>): Promise<void> {
  for (let next = waiting.next(); !next.done; next = waiting.next()) {
    const installed = await installOrLeaveOut(next.value)
    if (installed) await runAndTell(world, next.value, installed)
  }
}

async function installOrLeaveOut(client: Client): Promise<Installed | undefined> {
  try {
    return await install(client)
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    leftOut.push({ title: titleOf(client), reason })
    say(`– ${titleOf(client)}: left out: ${reason}`)
    return undefined
  }
}

async function runAndTell(world: World, client: Client, installed: Installed): Promise<void> {
  const outcome = await runClient(world, client, installed)
  outcomes.push(outcome)
  say(`${worked(outcome) ? '✓' : '✗'} ${titleOf(client)} ${outcome.version} ${outcome.problem ?? ''}`)
  for (const where of outcome.keySeen) say(`  key seen in ${where}`)
  if (verbose || !(worked(outcome) || client.fails)) tellMore(outcome)
}

function tellMore({ output, seen }: Outcome): void {
  for (const { method, host, path, status } of seen) say(`  ${method} ${host}${path} ${status}`)
  process.stderr.write(`${output.trim().replaceAll(/^/gm, '    ')}\n`)
}

function say(sentence: string): void {
  process.stderr.write(`clients: ${sentence}\n`)
}
