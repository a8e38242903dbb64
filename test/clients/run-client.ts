import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Ended } from '../broker-command.ts'
import { filesBelow, searchForSecrets } from '../search-for-secret.ts'
import type { Client, Place, Texts } from './client.ts'
import { hostsWith } from './hosts.ts'
import type { Installed } from './install.ts'
import { endLeftovers } from './leftovers.ts'
import { type SeenRequest, type Service, startService } from './service.ts'
import { commandOf, type Start } from './start.ts'
import { FIRST, LAST } from './stream-words.ts'
import { runInTerminal } from './terminal.ts'
import type { World } from './world.ts'

/** What became of a client behind `broker run`. */
export interface Outcome {
  readonly client: Client
  readonly version: string
  /** What went wrong with the plain request; undefined where it was answered 200 and the client said so. */
  readonly problem: string | undefined
  /** Whether it showed the first piece before the last was sent; undefined where it does not stream. */
  readonly streamed: boolean | undefined
  /** Where a real key stood. */
  readonly keySeen: readonly string[]
  readonly output: string
  readonly seen: readonly SeenRequest[]
}

const PROGRAMS = fileURLToPath(new URL('./programs/', import.meta.url))
const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin']
const PATIENCE = 120_000

export function worked({ problem, streamed, keySeen }: Outcome): boolean {
  return problem === undefined && streamed !== false && keySeen.length === 0
}

/** Runs it in a home of its own against services of its own. */
export async function runClient(world: World, client: Client, installed: Installed): Promise<Outcome> {
  const place = makePlace(world, client, installed)
  const service = await startService(world.authority, hostsWith(world.keys, place.repositories))
  try {
    const runs = [await runOnce({ world, client, place, service })]
    // What the first run left behind still speaks to the same services.
    if (client.twice) runs.push(await runOnce({ world, client, place, service }))
    return await judge(world, client, place, runs)
  } finally {
    endLeftovers(dirname(place.home))
    service.close()
  }
}

async function judge(world: World, client: Client, place: ClientPlace, runs: readonly Run[]): Promise<Outcome> {
  const secrets = Object.values(world.keys).map(({ secret }) => secret)
  const output = runs.map((run) => run.output).join('\n')
  const traces = [{ where: 'its output', bytes: output }, ...filesBelow(dirname(place.folder))]
  return {
    client,
    version: await versionOf(client, place),
    problem: runs.map((run) => problemOf(client, run)).find((one) => one !== undefined),
    streamed: client.streams ? runs.every(({ streamed }) => streamed) : undefined,
    keySeen: searchForSecrets(traces, secrets),
    output,
    seen: runs.flatMap(({ seen }) => seen),
  }
}

interface Run {
  readonly code: number | null | undefined
  readonly output: string
  readonly streamed: boolean
  readonly seen: readonly SeenRequest[]
}

interface ClientPlace extends Place {
  /** Folder of the repositories that its services have. */
  readonly repositories: string
  readonly env: Readonly<Record<string, string>>
}

interface Whole {
  readonly world: World
  readonly client: Client
  readonly place: ClientPlace
  readonly service: Service
}

async function runOnce({ world, client, place, service }: Whole): Promise<Run> {
  const before = service.seen.length
  writeTexts(place.folder, client.texts, place)
  writeTexts(place.home, client.home, place)
  if (client.streams) service.hold()
  else service.release()
  const start = {
    client,
    env: { ...place.env, BROKER_PROXY_CONNECT_TO: service.connectTo },
    place,
    onFirst: () => service.release(),
  }
  const { code, output } = await (client.terminal ? runInTerminal : runWithout)(world, start)
  const streamed = output.includes(FIRST) && output.includes(LAST)
  return { code, output, streamed, seen: service.seen.slice(before) }
}

async function runWithout(
  world: World,
  start: Start,
): Promise<{ readonly code: Ended['code']; readonly output: string }> {
  const { env, place, onFirst } = start
  const running = world.broker.start(commandOf(start), { cwd: place.folder, env })
  running.process.stdin?.end()
  let shown = ''
  running.process.stdout?.on('data', (chunk) => {
    shown += chunk
    if (shown.includes(FIRST)) onFirst()
  })
  const timer = setTimeout(() => running.process.kill(), PATIENCE)
  const { code, stdout, stderr } = await running.ended
  clearTimeout(timer)
  return { code, output: `${stdout}\n${stderr}` }
}

function problemOf({ shows }: Client, { code, output, seen }: Run): string | undefined {
  if (seen.some(({ status }) => status === 401)) return 'it was answered 401'
  const [, status] = /^status ([3-9]\d\d)\b/m.exec(output) ?? []
  if (status !== undefined) return `it was answered ${status}`
  if (!seen.some(({ status }) => status < 400)) return 'no request arrived'
  if (code !== 0 && code !== undefined) return `it ended with ${code}`
  return shows.test(output) ? undefined : 'it did not show the answer'
}

function makePlace(world: World, client: Client, { path, modules, wheels }: Installed): ClientPlace {
  const row = world.makeFolder(`${client.name} ${client.runtime}`)
  const place = { folder: join(row, 'folder'), home: join(row, 'home'), temporary: join(row, 'temporary') }
  const repositories = world.makeFolder('repositories')
  for (const folder of Object.values(place)) mkdirSync(folder)
  for (const file of client.files ?? []) copyFileSync(join(PROGRAMS, file), join(place.folder, basename(file)))
  if (modules !== undefined) symlinkSync(join(modules, 'node_modules'), join(place.folder, 'node_modules'))
  const env = {
    PATH: [...path, ...SYSTEM_PATH].join(delimiter),
    HOME: place.home,
    TMPDIR: place.temporary,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    BROKER_PROXY_CA_FILE: world.authorityFile,
    ...(wheels !== undefined && { PYTHONPATH: wheels }),
  }
  return { ...place, repositories, env }
}

function writeTexts(folder: string, texts: Texts | undefined, place: Place): void {
  for (const [path, text] of Object.entries(typeof texts === 'function' ? texts(place) : (texts ?? {}))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

const run = promisify(execFile)

async function versionOf({ version }: Client, { env }: ClientPlace): Promise<string> {
  if (typeof version === 'string') return version
  const [program = '', ...args] = version
  const { stdout, stderr } = await run(program, args, { env }).catch(() => ({ stdout: '', stderr: '' }))
  return /\d+(?:\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? '?'
}
