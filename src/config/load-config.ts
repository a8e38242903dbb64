import { readFileSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { isLoopback } from '../network/index.ts'
import { BrokerError, DEFAULT_PORT, ENCRYPTION_MODES, type EncryptionMode, Secret } from '../protocol/index.ts'
import { readClientConfig } from './client-config.ts'
import { type HomePaths, homePaths } from './home.ts'
import { saidPort } from './server-files.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Everything the environment and the home say, read once. */
export interface Config {
  readonly paths: HomePaths
  /** Daemon to call, without a trailing slash. */
  readonly baseUrl: string
  readonly baseUrlSource: 'environment' | 'config' | 'default'
  /** Whether `baseUrl` is the address where this home's own daemon listens: only that one is started when needed. */
  readonly baseUrlIsOwn: boolean
  /** Where this home's own daemon listens, or would: `BROKER_PORT`, or what the running one says. */
  readonly ownPort: number
  readonly daemon: DaemonConfig
  readonly proxy: ProxyConfig
  /** The environment the command was started with, `BROKER_*` left out: what a child of `run` may inherit. */
  readonly inherited: Readonly<Record<string, string>>
  /** The whole environment: what Broker's own processes are started with. */
  readonly environment: Environment
  /** Descriptors from 3 on that were open when `broker` was started. */
  readonly inheritedDescriptors: readonly number[]
  /** Socket by which the run that this is started in speaks for it, where its command is kept from the rest of Broker. */
  readonly runSocket?: string
  /** The run that this is started in. */
  readonly outerRun?: OuterRun
}

interface OuterRun {
  readonly id: string
  /** Handle of the agent that it is of. */
  readonly agent: string | undefined
}

interface DaemonConfig extends KeyConfig {
  /** Backups that the daemon makes by itself; none where absent. */
  readonly backups?: BackupConfig
  /** Addresses to listen on; both loopback ones unless `BROKER_HOST` names one. */
  readonly hosts: readonly string[]
  readonly port: number
  readonly publicUrl?: string
  /** `postgres://…`; holds a password. */
  readonly databaseUrl?: Secret
  /** Most connections of one daemon to Postgres: for what is asked, and for changes. */
  readonly databasePools?: { readonly requests?: number; readonly writes?: number }
  /** `redis://…` or `rediss://…`; may hold a password. */
  readonly redisUrl?: Secret
  readonly logLevel: LogLevel
  /** Whether anybody who gets here may make an account. */
  readonly registration: (typeof REGISTRATION)[number]
  /** Whether a run may trust roots, and dial addresses, that are not the machine's own. */
  readonly overrides: (typeof OVERRIDES)[number]
  /** Reverse proxies whose word on where a request comes from is taken: addresses and CIDRs, as they were written. */
  readonly trustedProxies?: readonly string[]
  /** Who may be handed a secret: agents and their runs, or runs alone. */
  readonly releaseTo: (typeof RELEASE_TO)[number]
}

interface BackupConfig {
  readonly folder: string
  /** Of age. */
  readonly recipient: string
  readonly everyMs: number
  readonly keep: number
}

/** Where the master key is, and when the vault is locked. */
interface KeyConfig {
  readonly encryptionMode: EncryptionMode
  readonly masterKey?: Secret
  readonly masterKeyFile?: string
  /** Path of a passphrase, for daemons that nobody sits at. */
  readonly passphraseFile?: string
  /** Command line that prints the key, and the environment it runs with. */
  readonly masterKeyCommand?: { readonly line: string; readonly environment: Readonly<Record<string, string>> }
  /** Without use for so long, the vault is locked; milliseconds. */
  readonly autoLockMs?: number
}

const REGISTRATION = ['open', 'closed'] as const
const OVERRIDES = ['allow', 'forbid'] as const

/** What the proxy of `run` itself obeys (contract section 9); the text is parsed by the proxy. */
export interface ProxyConfig {
  readonly caFile?: string
  /** The user's SSL_CERT_FILE and SSL_CERT_DIR: whom all that the user runs trusts. */
  readonly trustFile?: string
  readonly trustFolders?: readonly string[]
  readonly connectTo?: string
  readonly httpsProxy?: Secret
  readonly httpProxy?: Secret
  readonly noProxy?: string
}

const RELEASE_TO = ['identities', 'runs'] as const
const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/**
 * @param userFolder empty where nobody knows the user's home folder
 * @throws BrokerError InvalidRequestError naming the variable that cannot be used.
 */
export function loadConfig(environment: Environment, userFolder: string): Config {
  const env = withHome(withoutEmpty(environment), userFolder)
  const paths = homePaths(env['BROKER_HOME'] ? resolve(env['BROKER_HOME']) : defaultHome(userFolder))
  const daemon = daemonConfig(env)
  const isNamed = env['BROKER_PORT'] !== undefined && daemon.port !== 0
  const ownPort = isNamed ? daemon.port : (saidPort(paths) ?? daemon.port)
  const base = baseUrl(env, paths, ownPort)
  return Object.freeze({
    paths,
    ...base,
    baseUrlIsOwn: isOwn(base.baseUrl, ownPort, daemon),
    ownPort,
    daemon,
    proxy: proxyConfig(env),
    inherited: inheritable(environment),
    environment,
    inheritedDescriptors: descriptorsOf(env['BROKER_INHERITED_DESCRIPTORS']),
    ...(env['BROKER_RUN_SOCKET'] && { runSocket: absolute('BROKER_RUN_SOCKET', env) }),
    ...(env['BROKER_OUTER_RUN'] && { outerRun: { id: env['BROKER_OUTER_RUN'], agent: env['BROKER_OUTER_AGENT'] } }),
  })
}

const PATHS = [
  'BROKER_HOME',
  'BROKER_MASTER_KEY_FILE',
  'BROKER_PASSPHRASE_FILE',
  'BROKER_BACKUP_FOLDER',
  'BROKER_PROXY_CA_FILE',
] as const

/** Files of variables, systemd and compose pass a "~" on as it is: nobody means a folder of that name. */
function withHome(env: Environment, userFolder: string): Environment {
  const expanded = PATHS.flatMap((name) => {
    const path = env[name]
    return path?.startsWith('~') ? [[name, expandedPath(name, path, userFolder)] as const] : []
  })
  return { ...env, ...Object.fromEntries(expanded) }
}

function expandedPath(name: string, path: string, userFolder: string): string {
  if (!/^~(?:\/|$)/.test(path))
    throw invalid(name, 'begins with the home folder of a user by name: write its whole path')
  if (!isAbsolute(userFolder)) throw invalid(name, 'begins with "~", and HOME names no folder: write the whole path')
  return join(userFolder, path.slice(1))
}

function defaultHome(userFolder: string): string {
  if (isAbsolute(userFolder)) return join(userFolder, '.broker')
  throw new BrokerError(
    'InvalidRequestError',
    'HOME names no folder, so that there is no place for the home of Broker',
    {
      hint: 'Set HOME, or BROKER_HOME to a folder of yours.',
    },
  )
}

const PROXY_VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()])
const PROXY_OF_RUN = /^http:\/\/broker:[\w-]{32}@127\.0\.0\.1:\d{1,5}\/?$/

/**
 * Where the proxy of the run that this process is of may be: what its own environment names, and those of the processes it
 * descends from, nearest first, for an agent starts its MCP servers with hardly any environment. Empty outside of runs.
 */
export function proxiesOfRun(environment: Environment): readonly string[] {
  const own = [environment['HTTPS_PROXY'], environment['https_proxy']].find((url) => url && PROXY_OF_RUN.test(url))
  return [...new Set([...(own ? [own] : []), ...proxiesOfAncestors()])]
}

const MOST_ANCESTORS = 64

/** On Linux alone: other systems do not tell. */
function proxiesOfAncestors(): readonly string[] {
  const found: string[] = []
  let pid = process.ppid
  for (let count = 0; pid > 1 && count < MOST_ANCESTORS; count += 1) {
    const url = /(?:^|\0)HTTPS_PROXY=([^\0]*)/.exec(textOf(`/proc/${pid}/environ`))?.[1]
    if (url && PROXY_OF_RUN.test(url)) found.push(url)
    pid = Number(/^PPid:\s*(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0)
  }
  return found
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/** The environment without the addresses of proxies. */
export function withoutProxies(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !PROXY_VARIABLES.includes(name)))
}

function withoutEmpty(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

function descriptorsOf(text = ''): readonly number[] {
  return text.split(' ').flatMap((word) => (/^\d{1,4}$/.test(word) && Number(word) > 2 ? [Number(word)] : []))
}

function inheritable(environment: Environment): Record<string, string> {
  // The proxy of an outer run is the way out of this one, and none of its child's.
  const outside = environment['BROKER_OUTER_RUN'] ? withoutProxies(environment) : environment
  const entries = Object.entries(outside).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('BROKER_'),
  )
  // `bin/broker` keeps these options from itself; they are the child's.
  const nodeOptions = environment['BROKER_INHERITED_NODE_OPTIONS']
  return { ...Object.fromEntries(entries), ...(nodeOptions !== undefined && { NODE_OPTIONS: nodeOptions }) }
}

function baseUrl(env: Environment, paths: HomePaths, port: number): Pick<Config, 'baseUrl' | 'baseUrlSource'> {
  const fromEnvironment = env['BROKER_BASE_URL']
  if (fromEnvironment) {
    return { baseUrl: parseBaseUrl('BROKER_BASE_URL', fromEnvironment), baseUrlSource: 'environment' }
  }
  const saved = readClientConfig(paths).daemon_base_url
  if (saved) return { baseUrl: parseBaseUrl('daemon_base_url', saved), baseUrlSource: 'config' }
  return { baseUrl: `http://127.0.0.1:${port}`, baseUrlSource: 'default' }
}

/**
 * An http or https origin without credentials, path, query or fragment. Plain http only on loopback: everything the
 * client sends is signed, but not secret from the network.
 */
export function parseBaseUrl(name: string, text: string): string {
  const url = parseUrl(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw invalid(name, 'must be an http or https URL')
  if (url.username || url.password || url.search || url.hash || (url.pathname !== '/' && url.pathname !== '')) {
    throw invalid(name, 'must be scheme, host and port alone')
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw invalid(name, 'must be https unless it is a loopback address')
  }
  return url.origin
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function isOwn(url: string, port: number, { publicUrl }: DaemonConfig): boolean {
  const { protocol, hostname, port: urlPort } = new URL(url)
  return publicUrl === undefined && protocol === 'http:' && isLoopback(hostname) && Number(urlPort || 80) === port
}

function daemonConfig(env: Environment): DaemonConfig {
  const publicUrl = env['BROKER_PUBLIC_URL'] && parsePublicUrl(env['BROKER_PUBLIC_URL'])
  return {
    hosts: listenHosts(env['BROKER_HOST'], publicUrl),
    port: parsePort(env['BROKER_PORT']),
    ...(publicUrl && { publicUrl }),
    ...(env['BROKER_DATABASE_URL'] && { databaseUrl: parseDatabaseUrl(env['BROKER_DATABASE_URL']) }),
    ...databasePools(env),
    ...(env['BROKER_REDIS_URL'] && { redisUrl: parseRedisUrl(env['BROKER_REDIS_URL']) }),
    ...keyConfig(env),
    ...backupConfig(env),
    registration: oneOf(
      'BROKER_REGISTRATION',
      env['BROKER_REGISTRATION'] ?? (publicUrl ? 'closed' : 'open'),
      REGISTRATION,
    ),
    overrides: oneOf('BROKER_OVERRIDES', env['BROKER_OVERRIDES'] ?? 'allow', OVERRIDES),
    releaseTo: oneOf('BROKER_RELEASE_TO', env['BROKER_RELEASE_TO'] ?? 'identities', RELEASE_TO),
    logLevel: oneOf('BROKER_LOG_LEVEL', env['BROKER_LOG_LEVEL'] ?? 'info', LOG_LEVELS),
    ...(env['BROKER_TRUSTED_PROXIES'] && { trustedProxies: listOf(env['BROKER_TRUSTED_PROXIES']) }),
  }
}

function backupConfig(env: Environment): { readonly backups?: BackupConfig } {
  if (!env['BROKER_BACKUP_FOLDER']) return {}
  const { BROKER_BACKUP_RECIPIENT: recipient = '', BROKER_BACKUP_KEEP: keep = '7' } = env
  if (!/^age1[a-z0-9]{20,}$/.test(recipient)) {
    throw invalid('BROKER_BACKUP_RECIPIENT', 'must be the age recipient, age1…, that backups are encrypted to')
  }
  if (!/^[1-9]\d{0,2}$/.test(keep)) throw invalid('BROKER_BACKUP_KEEP', 'must be a number of backups, 1 to 999')
  const everyMs = durationOf('BROKER_BACKUP_EVERY', env['BROKER_BACKUP_EVERY'] ?? '24h')
  return { backups: { folder: absolute('BROKER_BACKUP_FOLDER', env), recipient, everyMs, keep: Number(keep) } }
}

function keyConfig(env: Environment): KeyConfig {
  const { BROKER_MASTER_KEY: masterKey, BROKER_MASTER_KEY_COMMAND: line, BROKER_AUTO_LOCK: autoLock } = env
  return {
    encryptionMode: oneOf('BROKER_ENCRYPTION_MODE', env['BROKER_ENCRYPTION_MODE'] ?? 'auto', ENCRYPTION_MODES),
    ...(masterKey && { masterKey: new Secret(masterKey) }),
    ...(env['BROKER_MASTER_KEY_FILE'] && { masterKeyFile: absolute('BROKER_MASTER_KEY_FILE', env) }),
    ...(env['BROKER_PASSPHRASE_FILE'] && { passphraseFile: absolute('BROKER_PASSPHRASE_FILE', env) }),
    ...(line && { masterKeyCommand: { line, environment: withoutOwn(env) } }),
    ...(autoLock && { autoLockMs: durationOf('BROKER_AUTO_LOCK', autoLock) }),
  }
}

/** What a command of the operator's runs with: nothing that is Broker's own. */
function withoutOwn(env: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('BROKER_'),
    ),
  )
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000 } as const

function durationOf(name: string, text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? []
  const ms = Number(count) * UNITS[unit as keyof typeof UNITS]
  // What Node's timers can wait for.
  if (!(ms < 2 ** 31)) throw invalid(name, 'must be a time such as 90s, 15m or 8h, at most 500h')
  return ms
}

function parsePublicUrl(text: string): string {
  const url = parseBaseUrl('BROKER_PUBLIC_URL', text)
  if (!url.startsWith('https:')) throw invalid('BROKER_PUBLIC_URL', 'must be https')
  return url
}

function listenHosts(host: string | undefined, publicUrl: string | undefined): readonly string[] {
  if (!host) return ['127.0.0.1', '::1']
  const bare = host.replace(/^\[|\]$/g, '')
  if (isLoopback(bare) || publicUrl) return bare === 'localhost' ? ['127.0.0.1', '::1'] : [bare]
  throw invalid('BROKER_HOST', 'would open the daemon to the network; that needs BROKER_PUBLIC_URL with https')
}

function parsePort(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw invalid('BROKER_PORT', 'must be a port, 0 to 65535')
  return port
}

function parseDatabaseUrl(text: string): Secret {
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw invalid('BROKER_DATABASE_URL', 'must begin with postgres://')
  return new Secret(text)
}

function databasePools(env: Environment): Pick<DaemonConfig, 'databasePools'> {
  const pools = {
    ...(env['BROKER_DATABASE_POOL'] && { requests: connections('BROKER_DATABASE_POOL', env) }),
    ...(env['BROKER_DATABASE_WRITE_POOL'] && { writes: connections('BROKER_DATABASE_WRITE_POOL', env) }),
  }
  return Object.keys(pools).length > 0 ? { databasePools: pools } : {}
}

function connections(name: string, env: Environment): number {
  const text = env[name] ?? ''
  if (!/^[1-9]\d{0,2}$/.test(text)) throw invalid(name, 'must be a number of connections, 1 to 999')
  return Number(text)
}

function parseRedisUrl(text: string): Secret {
  const url = parseUrl(text)
  const isWhole = url !== undefined && url.hostname !== '' && url.search === '' && url.hash === ''
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:'
  if (isWhole && isRedis && /^(?:\/\d{0,5})?$/.test(url.pathname) && isEncoded(url)) return new Secret(text)
  throw invalid(
    'BROKER_REDIS_URL',
    'must be redis://user:password@host:port/database, or rediss:// for TLS; all but the host may be left out, and special characters of the password are percent-encoded',
  )
}

function isEncoded({ username, password }: URL): boolean {
  try {
    return decodeURIComponent(username + password) !== undefined
  } catch {
    return false
  }
}

function absolute(name: string, env: Environment): string {
  const path = env[name] ?? ''
  if (!isAbsolute(path)) throw invalid(name, 'must be an absolute path')
  return path
}

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function oneOf<Value extends string>(name: string, text: string, values: readonly Value[]): Value {
  const value = values.find((candidate) => candidate === text)
  if (value === undefined) throw invalid(name, `must be one of ${values.join(', ')}`)
  return value
}

function proxyConfig(env: Environment): ProxyConfig {
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY']
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY']
  const noProxy = env['no_proxy'] ?? env['NO_PROXY']
  return {
    ...(env['BROKER_PROXY_CA_FILE'] && { caFile: resolve(env['BROKER_PROXY_CA_FILE']) }),
    ...(env['SSL_CERT_FILE'] && { trustFile: resolve(env['SSL_CERT_FILE']) }),
    ...(env['SSL_CERT_DIR'] && { trustFolders: foldersOf(env['SSL_CERT_DIR']) }),
    ...(env['BROKER_PROXY_CONNECT_TO'] && { connectTo: env['BROKER_PROXY_CONNECT_TO'] }),
    ...(httpsProxy && { httpsProxy: new Secret(httpsProxy) }),
    ...(httpProxy && { httpProxy: new Secret(httpProxy) }),
    ...(noProxy && { noProxy }),
  }
}

/** As OpenSSL reads it. */
function foldersOf(text: string): readonly string[] {
  return text.split(delimiter).flatMap((folder) => (folder === '' ? [] : [resolve(folder)]))
}

function invalid(name: string, rule: string): BrokerError {
  return new BrokerError('InvalidRequestError', `${name} ${rule}`)
}
