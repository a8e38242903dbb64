import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  anchorOfDeployment,
  anchorOfHome,
  type Config,
  type DaemonInfo,
  ensureBootstrapSecret,
  ensureOperatorSecret,
  ensureServerConfig,
  folderOfHome,
  keepMemoryPrivate,
  loadConfig,
  overwriteFreedMemory,
  privateFolder,
  readDaemonInfo,
  refuseOtherThanFolder,
  removeDaemonInfo,
  SERVER_SCHEMA_VERSION,
  sweepHome,
  upstreamRoots,
  userFolder,
  writeDaemonInfo,
} from '../config/index.ts'
import { bracketed, isLoopback } from '../network/index.ts'
import { BrokerError, exitCodeOf, type Refused } from '../protocol/index.ts'
import { openAccounts } from './accounts/index.ts'
import {
  apiRoutes,
  errorAnswer,
  type OwnAddresses,
  type RunningServer,
  reservePort,
  SourceLimits,
  sourceReader,
  startServer,
} from './api/index.ts'
import { openAudit } from './audit/index.ts'
import { openAuthSessions } from './auth-sessions/index.ts'
import { openChannels } from './channel/index.ts'
import { openConnections, openOAuthClients, openRefreshes } from './connections/index.ts'
import { openCredentials } from './credentials/index.ts'
import { clientMetadataDocument, type FlowsOptions, openFlows } from './flows/index.ts'
import { openKeys } from './keys/index.ts'
import { type DaemonLog, loggable, openLog } from './open-log.ts'
import { openPrincipals } from './principals/index.ts'
import { CHECKED_DEFINITIONS, openProviders } from './providers/index.ts'
import { openReleases } from './releases/index.ts'
import { openRights } from './rights/index.ts'
import { scheduleBackups } from './scheduled-backups.ts'
import { homeLock, homeStore, masterKeySettings, storeLocation } from './settings.ts'
import { openSharedParts } from './shared-parts.ts'
import { openStore, type Store } from './store/index.ts'
import { forgetNewStore } from './take-new-store.ts'
import { openVault } from './vault/index.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DRAIN_MS = 10_000

/** Builds the rooms in order, listens, and returns what stops them in reverse. */
async function startDaemon(config: Config, daemonLog: DaemonLog): Promise<() => Promise<void>> {
  const { paths, daemon: settings } = config
  const { log } = daemonLog
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string }

  const lock = homeLock(config)
  sweepHome(paths)
  forgetNewStore(homeStore(config))
  const { schemaVersion } = ensureServerConfig(paths)
  const reserved = settings.port === 0 ? await reservePort(settings.hosts[0] ?? '127.0.0.1') : undefined
  const port = reserved?.port ?? settings.port
  const own = ownAddresses(settings.hosts, port, settings.publicUrl)
  const baseUrl = settings.publicUrl ?? own.origins[0] ?? ''
  const isSecure = baseUrl.startsWith('https:')
  const sourceOf = sourceReader(settings.trustedProxies ?? [])

  const store = await openStore(storeLocation(config), { version, note: (what) => log.info(what) })
  const vault = await openVault({
    store,
    masterKey: masterKeySettings(config),
    anchorFile: store.dialect === 'sqlite' ? anchorOfHome(paths) : anchorOfDeployment(paths),
    onDropped: overwriteFreedMemory(),
    onRekeyed: () => rights.forget(),
  })
  const onFailure = (error: unknown) => log.error(loggable(error), 'something failed that nobody waited for')
  const audit = openAudit(store, {
    ...journalOf(store, paths),
    withThread: true,
    mac: (text, number) => vault.auditMac(text, number),
    isCurrent: (db) => vault.isCurrent(db),
    onFailure,
  })
  const rights = openRights({ store, vault, audit, onFinding: (what) => log.warn(what) })
  if (vault.status().kind === 'open')
    await rights.open().catch((error: unknown) => log.error(loggable(error), 'rights'))
  let info: DaemonInfo | undefined
  const sayKey = (did: string) => {
    if (info !== undefined) writeDaemonInfo(paths, { ...info, did })
  }
  const shared = await openSharedParts(config, { store, vault, audit, rights, log, onOpened: sayKey })
  const { deployment, cache } = shared
  const providers = openProviders({
    bundledDir: `${ROOT}providers`,
    custom: deployment.definitions,
    checked: CHECKED_DEFINITIONS,
    updates: { store: deployment.catalogue },
  })
  await providers.refresh()
  const stopFollowing = shared.follow(providers)
  const clients = openOAuthClients({ store, vault, providers })
  const connections = openConnections({ store, vault, audit, providers, clients })
  const principals = openPrincipals({
    store,
    audit,
    vault,
    rights,
    baseUrl,
    overrides: settings.overrides,
    ...(settings.publicUrl === undefined && { bootstrapSecret: ensureBootstrapSecret(paths) }),
  })
  const operatorSecret = ensureOperatorSecret(paths)
  const accounts = openAccounts({
    store,
    audit,
    principals,
    rights,
    registration: settings.registration,
    mac: (text) => vault.knownBrowserMac(text),
    operatorSecret,
  })
  const keys = openKeys({
    store,
    vault,
    rights,
    audit,
    operatorSecret,
    ...(settings.autoLockMs !== undefined && { autoLockMs: settings.autoLockMs }),
    onFailure,
  })
  const flows = openFlows({ version, ...outbound(config) })
  // A home has one daemon at a time; a Postgres may have many.
  const refreshes = await openRefreshes({ store, vault, audit, alone: store.dialect === 'sqlite' })
  const credentials = openCredentials({ providers, connections, refreshes, clients, flows, audit, onFailure })
  credentials.keepFresh()
  const stopKeepingUp = audit.keepUp()
  const stopBackups = scheduleBackups({ config, audit, version, onFailure })
  const releases = openReleases({ store, audit, credentials, connections, releaseTo: settings.releaseTo })
  const channels = openChannels({
    releases: {
      release(...question) {
        keys.used()
        return releases.release(...question)
      },
    },
    audit,
    principals,
    onFailure,
    refusalOf: (error) => refusalOf(error, log),
  })
  const sessions = openAuthSessions({
    store,
    audit,
    providers,
    connections,
    clients,
    flows,
    baseUrl,
    onFailure,
    ...shared.logins,
  })
  const homeIsCurrent = schemaVersion === SERVER_SCHEMA_VERSION
  const advice = adviceOn(settings)
  const routes = apiRoutes(
    { store, audit, providers, connections, credentials, releases, deployment, principals, accounts, sessions, keys },
    {
      readiness: {
        store,
        vault,
        rights,
        deployment,
        audit,
        cache,
        providers,
        connections,
        homeIsCurrent,
        version,
        advice,
      },
      home: paths.home,
      version,
      baseUrl,
      isSecure,
      builtFolder: `${ROOT}dist`,
      registration: settings.registration,
      ...(settings.publicUrl !== undefined && { clientMetadata: clientMetadataDocument(settings.publicUrl) }),
    },
  )
  const server = await startServer(
    {
      routes,
      principals,
      accounts,
      own,
      isSecure,
      now: Date.now,
      sourceOf,
      channels,
      onChange: (principalId) => channels.changed(principalId),
      // A home's own files are looked at where they are listed.
      ...(store.dialect === 'postgres' && { news: () => providers.refresh() }),
      keys,
      limits: settings.publicUrl === undefined ? new SourceLimits(undefined, ['unlocks']) : new SourceLimits(),
      onRequest: (line) => log[line.status >= 500 ? 'warn' : 'debug'](line, 'request'),
      onFailure: (request_id, error) => log.error({ request_id, ...loggable(error) }, 'request failed'),
    },
    settings.hosts,
    reserved ?? port,
  ).catch((cause) => {
    throw cannotListen(cause, port)
  })
  const { did } = await deployment.key().catch(() => NOBODY)
  info = { pid: process.pid, port, started_at: new Date().toISOString(), version, did }
  writeDaemonInfo(paths, info)
  for (const sentence of advice) log.warn(sentence)
  log.info({ version, port, hosts: settings.hosts, vault: vault.status().kind }, 'started')
  return () =>
    stop({
      server,
      channels,
      audit,
      vault,
      store,
      lock,
      keys,
      sessions,
      credentials,
      stopFollowing,
      stopKeepingUp,
      stopBackups,
      shared,
      daemonLog,
      paths,
    })
}

/** On Postgres a daemon may be gone for good, with its files: what leaves is written to the store at once. */
function journalOf({ dialect }: Store, { journal }: Config['paths']): { readonly journalFolder?: string } {
  return dialect === 'sqlite' ? { journalFolder: folderOfHome(journal) } : {}
}

/** Gives what a run's channel may say of an error; one that is nobody's fault but ours goes to the log. */
function refusalOf(error: unknown, log: DaemonLog['log']): Refused {
  const id = randomUUID()
  if (!(error instanceof BrokerError)) log.error({ request_id: id, ...loggable(error) }, 'request failed')
  return errorAnswer(error, id)
}

/** What a daemon that cannot open the store's key is: no did:key is that. */
const NOBODY = { did: '' }

/** Browsers speak https, the daemon does not: where there is a public URL, there is a proxy. */
function adviceOn({ publicUrl, trustedProxies }: Config['daemon']): readonly string[] {
  if (publicUrl === undefined || trustedProxies?.length) return []
  return [
    'BROKER_TRUSTED_PROXIES is not set: all who come by the reverse proxy count as one source, and share its limits.',
  ]
}

function outbound({ daemon, proxy }: Config): Omit<FlowsOptions, 'version'> {
  const { httpsProxy: https, noProxy: no } = proxy
  return {
    hosted: daemon.publicUrl !== undefined,
    ...(daemon.publicUrl !== undefined && { publicUrl: daemon.publicUrl }),
    roots: upstreamRoots(proxy),
    proxies: { ...(https && { https }), ...(no !== undefined && { no }) },
  }
}

interface Rooms {
  readonly server: RunningServer
  readonly channels: { close(): Promise<void> }
  readonly audit: { close(): Promise<void> }
  readonly keys: { close(): Promise<void> }
  readonly sessions: { close(): Promise<void> }
  readonly credentials: { close(): Promise<void> }
  readonly stopFollowing: () => void
  readonly stopKeepingUp: () => void
  readonly stopBackups: () => Promise<void>
  readonly shared: { close(): Promise<void> }
  readonly vault: { anchorChanges(): Promise<void> }
  readonly store: { close(): Promise<void> }
  readonly lock: { release(): void }
  readonly daemonLog: DaemonLog
  readonly paths: Config['paths']
}

async function stop(rooms: Rooms): Promise<void> {
  const { server, channels, audit, keys, sessions, credentials, stopFollowing, stopKeepingUp, shared, vault } = rooms
  const { stopBackups, store, lock, daemonLog, paths } = rooms
  daemonLog.log.info('stopping')
  stopFollowing()
  stopKeepingUp()
  await Promise.all([server.stop(DRAIN_MS), channels.close()])
  await stopBackups()
  await keys.close()
  await sessions.close()
  await credentials.close()
  await shared.close()
  await vault.anchorChanges()
  await audit.close()
  await store.close()
  removeDaemonInfo(paths)
  lock.release()
  daemonLog.log.info('stopped')
  await daemonLog.close()
}

function ownAddresses(hosts: readonly string[], port: number, publicUrl: string | undefined): OwnAddresses {
  const isHere = hosts.some((host) => isLoopback(host) || ANY_ADDRESS.includes(host))
  const names = isHere
    ? [...new Set(['127.0.0.1', 'localhost', '[::1]', ...hosts.map(bracketed)])]
    : hosts.map(bracketed)
  const local = names.map((name) => `${name}:${port}`)
  const authorities = [...local, ...(publicUrl ? [new URL(publicUrl).host] : [])]
  const origins = [...local.map((authority) => `http://${authority}`), ...(publicUrl ? [publicUrl] : [])]
  return { authorities: new Set(authorities), origins }
}

/** Loopback is one of them. */
const ANY_ADDRESS = ['0.0.0.0', '::']

function cannotListen(cause: unknown, port: number): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return cause
  const why = code === 'EADDRINUSE' ? 'another program listens there' : `the system says ${code}`
  return new BrokerError('DaemonUnavailableError', `Cannot listen on port ${port}: ${why}`, {
    hint: 'Set BROKER_PORT to another port, for the daemon and for the command line.',
    cause,
  })
}

async function main(): Promise<void> {
  keepMemoryPrivate()
  // Modes in the home are ours to choose, whatever the shell's mask.
  process.umask(0o077)
  const config = loadConfig(process.env, userFolder())
  privateFolder(config.paths.home)
  folderOfHome(config.paths.server)
  folderOfHome(dirname(config.paths.daemonLog))
  refuseOtherThanFolder(config.paths.providers)
  const daemonLog = openLog(config.paths.daemonLog, config.daemon.logLevel)
  const stopDaemon = await startDaemon(config, daemonLog).catch(async (error: unknown) => {
    daemonLog.log.error(loggable(error), 'cannot start')
    await daemonLog.close()
    throw error
  })
  stopOnSignal(stopDaemon)
  // Now and not at its end: many a daemon is killed.
  flushCompileCache()
  if (process.stderr.isTTY)
    process.stderr.write(`The daemon listens on port ${readDaemonInfo(config.paths)?.port}; Ctrl-C stops it.\n`)
}

function stopOnSignal(stopDaemon: () => Promise<void>): void {
  let stopping = false
  const onSignal = () => {
    // Asked twice, it ends at once; the store is consistent at any moment.
    if (stopping) process.exit(0)
    stopping = true
    stopDaemon().then(
      () => process.exit(0),
      (error: unknown) => giveUp(error, 'the daemon could not stop in order; what it acknowledged is kept'),
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('SIGHUP', onSignal)
}

/** Whatever is still open, a socket perhaps, must not keep the process. */
function giveUp(error: unknown, otherwise: string): never {
  const known = error instanceof BrokerError ? error : undefined
  process.stderr.write(`broker: ${known?.message ?? otherwise}\n`)
  if (known?.options.hint) process.stderr.write(`  ${known.options.hint}\n`)
  process.exit(known ? exitCodeOf[known.name] : 1)
}

main().catch((error: unknown) => giveUp(error, 'the daemon cannot start; its log says why'))
