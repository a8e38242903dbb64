import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { DaemonClient } from '../client/index.ts'
import type { Enclosure, Sandbox } from '../isolation/index.ts'
import { attentionLine, BrokerError, type Secret } from '../protocol/index.ts'
import type { AttentionOf, Connection, ConnectionList, Routes, Run, StartRun } from '../schemas/index.ts'
import { browserLauncher, browserOptions, isBrowser } from './browser.ts'
import { childEnvironment } from './child-environment.ts'
import { commandName } from './command-name.ts'
import type { LeftProcess } from './descendants.ts'
import { limitsOf } from './known-limits.ts'
import type { AllowedHost, ListeningProxy } from './messages.ts'
import { withinRun } from './outer-run.ts'
import { overrideLines } from './override-lines.ts'
import { type Connected, namesFields, placeholdersOf } from './placeholders.ts'
import type { ProxyProcess, RunEnd } from './proxy-process.ts'
import { runSocketIn } from './run-socket.ts'
import { type ChildExit, spawnChild } from './spawn-child.ts'
import { spawnSandboxed } from './spawn-sandboxed.ts'

type Environment = Readonly<Record<string, string>>

export interface RunOptions {
  readonly command: readonly [string, ...string[]]
  /** Signs as the identity. */
  readonly client: DaemonClient
  readonly handle: string
  readonly proxy: ProxyProcess
  /** Only these providers may be injected; all of the principal's when undefined. */
  readonly only?: readonly string[]
  /** Connections to use instead of the default, by provider. */
  readonly connections: Readonly<Record<string, string>>
  /** Refuse every host that no connected provider matches. */
  readonly strict: boolean
  /** Whether the command starts a browser; one that is a browser is known by its name. */
  readonly browser: boolean
  readonly inherited: Readonly<Record<string, string>>
  /** Open descriptors from 3 on that the child gets, as from a shell. */
  readonly descriptors: readonly number[]
  /** Whether the run around this one starts it, by its own socket: then nothing is signed here. */
  readonly isOfOuterRun?: boolean
  readonly isolation?: RunIsolation
  /** Told once the proxy knows of the run, and has what is to be removed after it. */
  readonly onBegun?: () => void
  /** The proxy of the run that this one is started in. */
  readonly within: Secret | undefined
  /** Settings of Broker for a run that is started within this one; no secrets. */
  readonly settings: Readonly<Record<string, string>>
  /** File of the debug log, for the proxy's process. */
  readonly logFile: string | undefined
  readonly atTerminal: boolean
  /** Tells the user, on standard error. */
  readonly warn: (message: string) => void
}

/** What stands around the command, and how it reaches Broker from there. */
export interface RunIsolation {
  readonly level: NonNullable<StartRun['isolation']>
  /** Where the command is started; as it is where both are undefined. */
  readonly enclosure?: Enclosure | undefined
  readonly sandbox?: Sandbox | undefined
  /** Folder of the run's sockets, and where the command sees it. */
  readonly socketFolder?: string | undefined
  readonly seenFolder?: string | undefined
  /** Hosts that were allowed beside those of providers, and ports of this machine. */
  readonly allowed?: readonly AllowedHost[]
  readonly ports?: readonly number[]
}

const NOT_ISOLATED: RunIsolation = { level: 'none' }

/**
 * Runs the command behind its proxy and gives its exit code.
 * @throws BrokerError where the daemon refuses the run or the proxy cannot start; the command has not run then.
 */
export async function runCommand(options: RunOptions): Promise<number> {
  const { client, command, handle, logFile, proxy, strict, warn, within, isolation = NOT_ISOLATED } = options
  const { did, overrides } = await proxy.key
  const run = await begin(options, { did, ...(overrides && { overrides }) })
  for (const warning of run.warnings ?? []) warn(warning)
  for (const line of overrideLines(overrides ?? {}, { isInner: within !== undefined })) warn(line)
  options.onBegun?.()
  proxy.registerInner((request) => client.startRun(request))
  const hasBrowser = options.browser || isBrowser(command[0])
  proxy.start({ runId: run.run_id, handle, strict, logFile, hasBrowser, ...startOf(isolation) })
  const exit = await runChild(options, run.run_id).catch(async (error: unknown) => {
    await client.endRun(run.run_id, undefined).catch(() => {})
    throw error
  })
  if (exit.failure) warn(exit.failure)
  const end = await proxy.childEnded(exit.code)
  // The proxy is gone, or the daemon is one of an older version, which takes the end of a run from its identity alone.
  if (end.kind === 'lost' || (end.kind === 'ended' && !end.isTold)) await tellEnd(options, run.run_id, exit.code)
  return exit.code
}

function startOf({ level, socketFolder, seenFolder, allowed = [], ports = [] }: RunIsolation) {
  return { isolation: level, socketFolder, seenFolder, allowed, ports }
}

/** Registers the key of the run: as the agent of this home, or by the run around it. */
async function begin(
  { client, command, connections, only, proxy, within, isOfOuterRun, isolation = NOT_ISOLATED }: RunOptions,
  key: Pick<StartRun, 'did' | 'overrides'>,
): Promise<Run> {
  const wanted = {
    ...(only && { only: [...only] }),
    ...(Object.keys(connections).length > 0 && { connections: { ...connections } }),
    command: commandName(command[0]),
  }
  if (isOfOuterRun) return await proxy.begin(wanted)
  const outer = within && (await withinRun(within, key.did))
  return await client.startRun({ ...key, ...wanted, ...outer, isolation: isolation.level })
}

// The child has ended: that the daemon could not be told changes nothing for the caller, and the run expires by itself.
async function tellEnd({ client, warn }: RunOptions, runId: string, exitCode: number): Promise<void> {
  try {
    await client.endRun(runId, exitCode)
  } catch (error) {
    warn(`The daemon could not be told that the run ended: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** At once: whoever waits for the command sees why its requests fail. It may have work to save, and goes on. */
async function tellOfProxy({ client, proxy, command, warn }: RunOptions, runId: string): Promise<void> {
  const end = await proxy.end
  const warning = warningOf(end, command)
  if (warning !== undefined) warn(warning)
  // What cannot be told now is told when the command has ended.
  if (end.kind === 'lost') await client.endRun(runId, undefined).catch(() => {})
}

function warningOf(end: RunEnd, command: RunOptions['command']): string | undefined {
  switch (end.kind) {
    case 'ended':
      return undefined
    case 'stays':
      return `"${commandName(command[0])}" left ${namesOf(end.left)} running; the proxy stays until they end`
    case 'lost':
      return 'The proxy of this run ended before the command, which goes on: its requests fail from now on'
  }
}

const MOST_NAMED = 3

/** `node (pid 123), esbuild (pid 130) and 4 more`. */
function namesOf(left: readonly LeftProcess[]): string {
  const named = left.slice(0, MOST_NAMED).map(({ pid, name }) => `${name} (pid ${pid})`)
  const others = left.length - named.length
  return others > 0 ? `${named.join(', ')} and ${others} more` : named.join(', ')
}

async function runChild(options: RunOptions, runId: string): Promise<ChildExit> {
  const { client, command, handle, proxy, inherited, descriptors, atTerminal, warn, isolation = NOT_ISOLATED } = options
  const routes = await proxy.routes
  const [listening, list] = await Promise.all([proxy.listening, client.connectionList()])
  const connected = await connectedProviders(client, routes, list.connections)
  const { seenFolder } = listening
  const ownSocket = seenFolder && { BROKER_RUN_SOCKET: runSocketIn(seenFolder) }
  const settings = { ...options.settings, ...ownSocket }
  for (const one of attentionForRun(list, options)) warn(attentionLine(one))
  if (connected.length === 0) warn(`No connection for this run: "${commandName(command[0])}" runs without credentials`)
  const { environment, bypasses, changes } = childEnvironment({
    inherited,
    proxy: listening,
    trust: listening.trust,
    placeholders: placeholdersOf(connected, inherited),
    routedHosts: routes.routes.map(({ host }) => host),
  })
  if (bypasses.length > 0)
    warn(`NO_PROXY names hosts whose credentials are injected; left out for this run: ${bypasses.join(', ')}`)
  if (connected.length > 0)
    for (const { what, way } of limitsOf(command)) warn(`${capital(what)}: its requests get no credentials. ${way}`)
  proxy.describe({ run_id: runId, agent: handle, settings, changes })
  const { sandbox } = isolation
  const child = {
    ...withBrowser(options, listening, { ...environment, ...ownSocket }),
    descriptors,
    atTerminal,
    onStart: (pid: number) => {
      proxy.childStarted(pid)
      void tellOfProxy(options, runId)
    },
  }
  if (sandbox) {
    const shown = [listening.folder]
    const own = profileOf(options, listening)
    const { firstProcess } = sandbox
    if (firstProcess) {
      return await spawnSandboxed({ ...child, sandbox, firstProcess, ways: listening.ways, shown, own, warn })
    }
    const reached = [listening.port, ...(listening.openPort === undefined ? [] : [listening.openPort])]
    return await spawnChild({ ...child, enclosed: (words) => sandbox.enclosed(words, { shown, own, reached }) })
  }
  if (options.isOfOuterRun) await openInside(listening.ways)
  return await spawnChild({ ...child, enclosed: isolation.enclosure?.enclosed })
}

/** The folder of the profile of a browser, where the command is one. */
function profileOf({ command: [file], browser }: RunOptions, { folder }: ListeningProxy): readonly string[] {
  if (!browser && !isBrowser(file)) return []
  const profile = join(folder, 'browser')
  mkdirSync(profile, { recursive: true, mode: 0o700 })
  return [profile]
}

/** The proxy of a run within a sandboxed one is outside, and this process is inside with its command. */
async function openInside(ways: ListeningProxy['ways']): Promise<void> {
  if (ways.length === 0) return
  const { openPassage } = await import('./passage.ts')
  await Promise.all(ways.map(({ host, port, socket }) => openPassage({ host, port }, { path: socket })))
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** The command and its environment, with what a browser has to be told where the command is one or starts one. */
function withBrowser(
  { command, browser, inherited, warn }: RunOptions,
  { folder, keyPin, openPort }: ListeningProxy,
  environment: Environment,
): { readonly command: RunOptions['command']; readonly environment: Environment } {
  const [file, ...args] = command
  if ((!browser && !isBrowser(file)) || keyPin === undefined) return { command, environment }
  if (openPort === undefined) {
    warn('A browser cannot be given the credentials of the proxy on this system: pages get no credentials')
    return { command, environment }
  }
  const options = browserOptions({ openPort, keyPin, noProxy: environment['NO_PROXY'] ?? '' })
  if (isBrowser(file)) {
    return { command: [file, ...options, `--user-data-dir=${join(folder, 'browser')}`, ...args], environment }
  }
  const variables = browserLauncher(options, folder, inherited)
  if (variables === undefined) warn('There is no browser built on Chromium on the PATH')
  return { command, environment: { ...environment, ...variables } }
}

/** Returns what keeps requests of this run from being served. */
function attentionForRun(
  { attention, connections }: ConnectionList,
  { only, connections: chosen }: RunOptions,
): readonly AttentionOf[] {
  // One with an address of its own is used for that, whatever is the default.
  const isUsed = (one: AttentionOf) =>
    connections.some(
      ({ provider, connection, is_default, base_url }) =>
        (is_default || base_url !== undefined) && provider === one.provider && connection === one.connection,
    )
  return attention.filter((one) => {
    if (only !== undefined && !only.includes(one.provider)) return false
    const wanted = Object.hasOwn(chosen, one.provider) ? chosen[one.provider] : undefined
    if (wanted !== undefined) return one.connection === wanted
    return one.connection === undefined || isUsed(one)
  })
}

/** The hosts of a connection without a definition are refused; which variables it had nobody knows. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof BrokerError) || error.name !== 'ProviderNotFoundError') throw error
}

/** Of several that a run may use, the default gives its variables their values. */
function usedConnections(
  routes: Routes['routes'],
  connections: readonly Connection[],
): ReadonlyMap<string, string | undefined> {
  const isDefault = (name: string, of: string | undefined) =>
    connections.some((one) => one.is_default && one.provider === name && one.connection === of)
  return routes.reduce((used, { provider, connection }) => {
    if (!used.has(provider) || isDefault(provider, connection)) used.set(provider, connection)
    return used
  }, new Map<string, string | undefined>())
}

async function connectedProviders(
  client: DaemonClient,
  { routes }: Routes,
  connections: readonly Connection[],
): Promise<readonly Connected[]> {
  const used = usedConnections(routes, connections)
  const found = await Promise.all([...used.keys()].map((provider) => client.provider(provider).catch(unlessGone)))
  const definitions = found.filter((definition) => definition !== undefined)
  return Promise.all(
    definitions.map(async (definition) => {
      const connection = connections.find(
        ({ provider, connection }) => provider === definition.name && connection === used.get(provider),
      )
      if (connection === undefined || !namesFields(definition)) return { definition, connection }
      return { definition, connection: await client.connection(connection.provider, connection.connection) }
    }),
  )
}
