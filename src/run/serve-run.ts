import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonChannel, DaemonClient, Signer } from '../client/index.ts'
import { generateSigningKey, type SigningKey } from '../identity/index.ts'
import { newProxyPassword, overridesOf, type ProxyOptions, type RunningProxy, startProxy } from '../proxy/index.ts'
import { Descendants, isRunning, KNOWS_DESCENDANTS, type LeftProcess } from './descendants.ts'
import { serveInnerRun } from './inner-run.ts'
import { failureOf, type ListeningProxy, type OnTheWire, type StartProxy } from './messages.ts'
import { withinOf } from './outer-run.ts'
import type { StartedProxy } from './proxy-process.ts'
import type { RunChannel } from './run-channel.ts'
import { createRunFolder, removeRunFolder, sweepRunFolders } from './run-folder.ts'
import { serveRunSocket } from './run-socket.ts'
import { openWays } from './sandbox-ways.ts'
import { hasJava, readTrustBase, type TrustBase, writeTrustFiles } from './trust-files.ts'

export interface ServeOptions {
  readonly channel: RunChannel
  /** A client of the daemon that signs as this run. */
  readonly clientOf: (signer: Signer) => DaemonClient
  /** What the proxy obeys beside what `broker run` says; throws BrokerError where it cannot be used. */
  readonly proxySettings: () => ProxySettings
  /** What the child inherits: it names the roots that the user's tools trust. */
  readonly inherited: Readonly<Record<string, string>>
  /** Starts the process of another proxy, for a run that the command starts within this one. */
  readonly startProxy: () => StartedProxy
  /** Folder in which the run's own is made. */
  readonly temporaryFolder: string
  /** Opens the debug log; it gets nothing secret. */
  readonly openLog: (file: string | undefined) => ProxyOptions['log']
}

export type ProxySettings = Pick<ProxyOptions, 'upstreamCa' | 'connectTo' | 'corporateProxy' | 'daemonAddresses'>

/**
 * The proxy of one run, in a process of its own, so that what the command leaves behind keeps its proxy when `broker run`
 * has returned. Comes back once no process of the run is left and the daemon knows. The run's key never leaves this process.
 */
export async function serveRun(options: ServeOptions): Promise<void> {
  const { channel } = options
  try {
    const settings = options.proxySettings()
    const key = generateSigningKey()
    const overrides = overridesOf(settings)
    channel.send({ type: 'key', did: key.did, ...(overrides && { overrides }) })
    // While `broker run` speaks with the daemon.
    const trust = readTrustBase(options.inherited, { withJava: KNOWS_DESCENDANTS && hasJava(options.inherited) })
    const start = await channel.started
    if (start !== undefined) await serveStarted({ ...options, settings, key, trust, start })
  } catch (error) {
    channel.send({ type: 'failed', failure: failureOf(error) })
  } finally {
    channel.close()
  }
}

interface StartedRun extends ServeOptions {
  readonly settings: ProxySettings
  readonly key: SigningKey
  readonly trust: TrustBase
  readonly start: StartProxy
}

async function serveStarted(run: StartedRun): Promise<void> {
  const broker = run.clientOf({ handle: run.start.handle, key: run.key })
  sweepRunFolders(run.temporaryFolder)
  const folder = createRunFolder(run.start.parentFolder ?? run.temporaryFolder)
  let isTold = false
  let exitCode: number | undefined
  try {
    exitCode = await serveChild({ ...run, folder }, broker)
  } finally {
    isTold = await broker.endRun(run.start.runId, exitCode).then(
      () => true,
      () => false,
    )
    broker.close()
    removeRunFolder(folder)
    if (run.start.socketFolder !== undefined) removeRunFolder(run.start.socketFolder)
  }
  run.channel.send({ type: 'ended', isTold })
}

/** The exit code of the child; undefined where nobody lives to tell it. */
async function serveChild(
  run: StartedRun & { readonly folder: string },
  broker: DaemonClient,
): Promise<number | undefined> {
  const { channel, key, start, settings } = run
  let onChanged = () => {}
  const line = broker.channel(start.runId, () => onChanged())
  const [routes, coverable] = await Promise.all([broker.routes(), broker.routableHosts()])
  channel.send({ type: 'routes', routes })
  const password = newProxyPassword()
  const descendants = new Descendants(password)
  const admitted = new Set<number>()
  let description: string | undefined
  void channel.description.then((text) => {
    description = text
  })
  const proxy = await startProxy({
    ...settings,
    broker: overChannel(broker, line),
    routes,
    coverable,
    runId: start.runId,
    strict: start.strict,
    allowed: start.allowed,
    hasOwnMachine: start.isolation !== 'sandbox',
    ports: start.ports,
    log: run.openLog(start.logFile),
    password,
    describe: (inner) => (inner === undefined ? (description ?? '{}') : attested(inner, start, key)),
    ...(needsOpenDoor(run) && {
      admits: ({ peerPort, ownPort }) => admitted.delete(peerPort) || descendants.ownConnection(peerPort, ownPort),
    }),
  })
  onChanged = () => void proxy.routesChanged()
  // The run lives as long as its channel, also where nothing is asked.
  line.open().catch(() => undefined)
  const socket = await openRunSocket(run, broker)
  const out = await openWaysOf(run, proxy, (port) => admitted.add(port))
  try {
    channel.send({ type: 'listening', listening: { ...listening(run, proxy, run.folder), ways: out.ways } })
    return await whileNeeded(channel, descendants)
  } finally {
    socket?.close()
    out.close()
    await proxy.close()
    line.close()
  }
}

async function openWaysOf({ start }: StartedRun, proxy: RunningProxy, onAdmitted: (port: number) => void) {
  const { isolation, socketFolder, seenFolder, ports, allowed: hosts } = start
  // Elsewhere a sandbox has the machine's own loopback.
  if (process.platform !== 'linux' || isolation !== 'sandbox' || socketFolder === undefined || seenFolder === undefined)
    return NO_WAYS
  return await openWays({ proxy, ports, hosts, socketFolder, seenFolder, onAdmitted })
}

const NO_WAYS = { ways: [], close() {} }

async function openRunSocket(
  { start, key, channel, startProxy, folder: parentFolder }: StartedRun & { readonly folder: string },
  broker: DaemonClient,
) {
  const { socketFolder: folder, seenFolder } = start
  if (folder === undefined || seenFolder === undefined) return undefined
  const outer = { ...start, socketFolder: folder, seenFolder, parentFolder }
  const register = channel.register.bind(channel)
  const startInner = (line: Duplex) => serveInnerRun(line, { startProxy, outer, key, register })
  return await serveRunSocket({ folder, broker, startInner })
}

function overChannel(broker: DaemonClient, line: DaemonChannel): ProxyOptions['broker'] {
  return {
    routes: () => broker.routes(),
    resolve: (request, count) => line.resolve({ ...request, count }),
    ship: ({ after, events }) => line.ship({ after, events: [...events] }),
  }
}

function attested(did: string, { runId: within }: StartProxy, key: SigningKey): string {
  return JSON.stringify(withinOf(key, { within, did }))
}

function needsOpenDoor({ start, trust }: StartedRun): boolean {
  return KNOWS_DESCENDANTS && (start.hasBrowser || trust.withJava)
}

function listening(
  { start, trust }: StartedRun,
  proxy: RunningProxy,
  folder: string,
): Omit<OnTheWire<ListeningProxy>, 'ways'> {
  const { port, openPort, credentials, caPem, keyPin } = proxy
  return {
    port,
    openPort,
    keyPin,
    folder,
    seenFolder: start.seenFolder,
    username: credentials.username,
    password: credentials.password.reveal(),
    trust: caPem === undefined ? undefined : writeTrustFiles(folder, caPem, trust),
  }
}

async function whileNeeded(channel: RunChannel, descendants: Descendants): Promise<number | undefined> {
  const { childStarted, childEnded, asked } = channel
  void childStarted.then((pid) => descendants.setRoot(pid))
  const ending = await Promise.race([childEnded, asked])
  if (ending === 'asked') {
    // Whoever waits for the command sees that it goes on without its proxy.
    channel.close()
    return undefined
  }
  const exitCode = ending
  if (exitCode === undefined) {
    // `broker run` was killed: nobody passes signals on to its command any more, or hears how that ends.
    descendants.endRoot()
    return undefined
  }
  descendants.setRoot(undefined)
  const left = await thoseThatStay(descendants)
  if (left.length > 0) {
    channel.send({ type: 'stays', left })
    channel.close()
    await Promise.race([untilNoneIsLeft(descendants), asked])
  }
  return exitCode
}

const MOMENT = 10
const MOMENTS = 10

/** Of a pipeline or a shell that has ended, the last processes may need a moment to be gone. */
async function thoseThatStay(descendants: Descendants): Promise<readonly LeftProcess[]> {
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const left = await living(descendants)
    if (left.length === 0) return left
    await delay(MOMENT)
  }
  return await living(descendants)
}

const LOOK_AGAIN = 500

async function untilNoneIsLeft(descendants: Descendants): Promise<void> {
  // All processes are read only when those that were known have gone.
  for (let left = await living(descendants); left.length > 0; left = await living(descendants)) {
    while (await looked(() => left.some(isRunning))) await delay(LOOK_AGAIN)
  }
}

function living(descendants: Descendants): Promise<readonly LeftProcess[]> {
  return looked(() => descendants.living())
}

/** Looks again where this process may open no file: the connections that it has descriptors for end some time. */
async function looked<T>(look: () => T): Promise<T> {
  for (;;) {
    try {
      return look()
    } catch {
      await delay(LOOK_AGAIN)
    }
  }
}
