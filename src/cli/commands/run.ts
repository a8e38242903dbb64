import { rmSync } from 'node:fs'
import type { DaemonClient, Signer } from '../../client/index.ts'
import type { Config } from '../../config/index.ts'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import { ProxyProcess, proxyOfOuterRun, type RunIsolation, runCommand, type StartedProxy } from '../../run/index.ts'
import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { ensureDaemon } from '../own-daemon.ts'
import { type IsolationOptions, isolate } from '../run-isolation.ts'
import { activeSigner, asAgent, signerOf } from '../session.ts'
import { startRunProxy } from '../start-run-proxy.ts'

export interface RunCommandOptions extends IsolationOptions {
  readonly connection?: Readonly<Record<string, string>>
  readonly only?: readonly string[]
  readonly strict?: boolean
  readonly browser?: boolean
}

/** Exits as the command did. */
export async function run(
  invocation: Invocation,
  [file = '', ...args]: readonly string[],
  options: RunCommandOptions,
): Promise<number> {
  const { config, log, logFile, output } = invocation
  const isOfOuterRun = config.runSocket !== undefined
  const signer = isOfOuterRun ? undefined : signerOfRun(config)
  const proxy = new ProxyProcess(await startedProxy(invocation))
  const warn = (message: string) => output.notice(`broker: ${message}`)
  try {
    if (!isOfOuterRun) await ensureDaemon(config, log)
    const work = async (client: DaemonClient) => {
      const isolation = await isolate(options, { config, health: await client.prove(), warn })
      let hasBegun = false
      return await runCommand({
        command: [file, ...args],
        client,
        handle: signer?.handle ?? config.outerRun?.agent ?? '',
        proxy,
        ...(options.only && { only: options.only.map(providerNamed) }),
        connections: connectionsOf(options.connection ?? {}),
        strict: options.strict === true,
        browser: options.browser === true,
        inherited: config.inherited,
        descriptors: config.inheritedDescriptors,
        isOfOuterRun,
        isolation,
        onBegun: () => {
          hasBegun = true
        },
        within: outerProxy(config),
        settings: settingsFor(config),
        logFile,
        atTerminal: process.stdin.isTTY === true || process.stdout.isTTY === true || process.stderr.isTTY === true,
        warn,
      }).finally(() => letGo(isolation, hasBegun))
    }
    return await asAgent(invocation, work, signer)
  } finally {
    proxy.release()
  }
}

/** Where the run has begun, its proxy has removed the folder, or does so when nothing of the run is left. */
function letGo({ enclosure, socketFolder }: RunIsolation, hasBegun: boolean): void {
  enclosure?.release()
  if (!hasBegun && socketFolder !== undefined) rmSync(socketFolder, { recursive: true, force: true })
}

/** One that was started early knows nothing of the run that this one is started in. */
async function startedProxy({ config, runProxy }: Invocation): Promise<StartedProxy> {
  if (runProxy !== undefined && config.outerRun === undefined && config.runSocket === undefined) return runProxy
  runProxy?.child.disconnect()
  if (config.runSocket !== undefined) return await proxyOfOuterRun(config.runSocket)
  return startRunProxy(config.environment)
}

/** Within another run it is the agent of that one, whichever is in use by now. */
function signerOfRun(config: Config): Signer {
  const { agent } = config.outerRun ?? {}
  return agent === undefined ? activeSigner(config) : signerOf(config, agent)
}

/** @throws BrokerError InvalidRequestError where only the name of an outer run is there, which says nothing */
function outerProxy({ outerRun, proxy }: Config): Secret | undefined {
  if (outerRun === undefined || proxy.httpsProxy !== undefined) return outerRun && proxy.httpsProxy
  throw new BrokerError('InvalidRequestError', 'BROKER_OUTER_RUN is set outside of a run', { hint: 'Unset it.' })
}

/** Returns what a `broker` that the command calls needs of this one's settings: the command itself is given none. */
function settingsFor({ baseUrl, baseUrlSource, ownPort, paths, proxy }: Config): Readonly<Record<string, string>> {
  return {
    BROKER_HOME: paths.home,
    BROKER_PORT: String(ownPort),
    ...(baseUrlSource === 'environment' && { BROKER_BASE_URL: baseUrl }),
    ...(proxy.caFile && { BROKER_PROXY_CA_FILE: proxy.caFile }),
  }
}

function connectionsOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(given).map(([provider, connection]) => [providerNamed(provider), connectionNamed(connection)]),
  )
}
