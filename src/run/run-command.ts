import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { DaemonClient, Signer } from '../client/index.ts'
import { generateSigningKey } from '../identity/index.ts'
import { type ProxyOptions, type RunningProxy, startProxy } from '../proxy/index.ts'
import type { Routes } from '../schemas/index.ts'
import { childEnvironment } from './child-environment.ts'
import { commandName } from './command-name.ts'
import { type Connected, namesFields, placeholdersOf } from './placeholders.ts'
import { createRunFolder, removeRunFolder, sweepRunFolders } from './run-folder.ts'
import { type ChildExit, spawnChild } from './spawn-child.ts'
import { type TrustFiles, writeTrustFiles } from './trust-files.ts'

export interface RunOptions {
  readonly command: readonly [string, ...string[]]
  /** Signs as the identity. */
  readonly client: DaemonClient
  readonly handle: string
  /** A client of the same daemon that signs as this run. */
  readonly clientOf: (signer: Signer) => DaemonClient
  /** Only these providers may be injected; all of the principal's when undefined. */
  readonly only?: readonly string[]
  /** Connections to use instead of the default, by provider. */
  readonly connections: Readonly<Record<string, string>>
  /** What the proxy itself obeys. */
  readonly proxy: Pick<
    ProxyOptions,
    'strict' | 'upstreamCa' | 'connectTo' | 'corporateProxy' | 'daemonAddresses' | 'log'
  >
  readonly inherited: Readonly<Record<string, string>>
  /** Folder in which the run's own is made. */
  readonly temporaryFolder: string
  readonly atTerminal: boolean
  /** Tells the user, on standard error. */
  readonly warn: (message: string) => void
}

/**
 * Runs the command behind a proxy of its own and gives its exit code.
 * @throws BrokerError where the daemon refuses the run or the proxy cannot start; the command has not run then.
 */
export async function runCommand(options: RunOptions): Promise<number> {
  const key = generateSigningKey()
  const run = await options.client.startRun({
    did: key.did,
    ...(options.only && { only: [...options.only] }),
    ...(Object.keys(options.connections).length > 0 && { connections: { ...options.connections } }),
    command: commandName(options.command[0]),
  })
  const broker = options.clientOf({ handle: options.handle, key })
  let exit: ChildExit | undefined
  try {
    exit = await behindProxy(options, run.run_id, broker)
  } finally {
    await endRun(options, run.run_id, exit?.code)
    broker.close()
  }
  if (exit.failure) options.warn(exit.failure)
  return exit.code
}

async function behindProxy(options: RunOptions, runId: string, broker: DaemonClient): Promise<ChildExit> {
  const routes = await broker.routes()
  const [proxy, connected] = await Promise.all([
    startProxy({ ...options.proxy, broker, routes, runId }),
    connectedProviders(options.client, routes),
  ])
  if (connected.length === 0)
    options.warn(`No connection for this run: "${commandName(options.command[0])}" runs without credentials`)
  try {
    return await runChild(options, proxy, connected, routes)
  } finally {
    await proxy.close()
  }
}

async function connectedProviders(client: DaemonClient, { routes }: Routes): Promise<readonly Connected[]> {
  const used = new Map(routes.map(({ provider, connection }) => [provider, connection]))
  if (used.size === 0) return []
  const [connections, ...definitions] = await Promise.all([
    client.connections(),
    ...[...used.keys()].map((provider) => client.provider(provider)),
  ])
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

async function runChild(
  options: RunOptions,
  proxy: RunningProxy,
  connected: readonly Connected[],
  { routes }: Routes,
): Promise<ChildExit> {
  sweepRunFolders(options.temporaryFolder)
  const folder = createRunFolder(options.temporaryFolder)
  try {
    const { environment, bypasses } = childEnvironment({
      inherited: options.inherited,
      proxy: { port: proxy.port, ...proxy.credentials },
      trust: trustFiles(folder, proxy.caPem, options.inherited),
      placeholders: placeholdersOf(connected),
      routedHosts: routes.map(({ host }) => host),
    })
    if (bypasses.length > 0)
      options.warn(`NO_PROXY names hosts whose credentials are injected; left out for this run: ${bypasses.join(', ')}`)
    return await spawnChild({ command: options.command, environment, atTerminal: options.atTerminal })
  } finally {
    removeRunFolder(folder)
  }
}

function trustFiles(
  folder: string,
  caPem: string | undefined,
  inherited: RunOptions['inherited'],
): TrustFiles | undefined {
  return caPem === undefined ? undefined : writeTrustFiles(folder, caPem, inherited, { withJava: hasJava(inherited) })
}

/** Java alone needs the roots in a form of its own, which is not worth making for everyone. */
function hasJava({ PATH = '', JAVA_HOME }: Readonly<Record<string, string | undefined>>): boolean {
  return JAVA_HOME !== undefined || PATH.split(delimiter).some((folder) => isExecutable(join(folder, 'java')))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// The child has ended: that the daemon could not be told changes nothing for the caller, and the run expires by itself.
async function endRun({ client, warn }: RunOptions, runId: string, exitCode: number | undefined): Promise<void> {
  try {
    await client.endRun(runId, exitCode)
  } catch (error) {
    warn(`The daemon could not be told that the run ended: ${error instanceof Error ? error.message : String(error)}`)
  }
}
