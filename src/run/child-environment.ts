import { fileURLToPath } from 'node:url'
import type { ListeningProxy } from './messages.ts'
import { javaExceptions, noProxyEntries, noProxyFor } from './no-proxy.ts'
import { REPLACING, REPLACING_WHERE_SET, type TrustFiles } from './trust-files.ts'

type Environment = Readonly<Record<string, string>>

export interface ChildSurroundings {
  /** The parent's environment without `BROKER_*`. */
  readonly inherited: Environment
  readonly proxy: Pick<ListeningProxy, 'port' | 'openPort' | 'username' | 'password'>
  /** Undefined where nothing is intercepted, so that no tool has to trust anything. */
  readonly trust: TrustFiles | undefined
  /** By variable name; only of providers that are connected. */
  readonly placeholders: Environment
  readonly routedHosts: readonly string[]
}

const PRELOAD = fileURLToPath(new URL('./preload.cjs', import.meta.url))

export interface ChildEnvironment {
  /** The child's whole environment. */
  readonly environment: Environment
  /** The user's NO_PROXY entries that had to go. */
  readonly bypasses: readonly string[]
  /** What the run set in place of what was there, for a run that is started within it. */
  readonly changes: Changes
}

/** By variable name; no address of a proxy is among them, and of a key that a placeholder replaced nothing is told. */
export type Changes = Readonly<Record<string, { readonly set: string; readonly before: string | null }>>

export function childEnvironment(surroundings: ChildSurroundings): ChildEnvironment {
  const { inherited, proxy, trust, placeholders, routedHosts } = surroundings
  const noProxy = noProxyFor(noProxyEntries(inherited), routedHosts)
  const told = {
    NO_PROXY: noProxy.value,
    no_proxy: noProxy.value,
    NODE_OPTIONS: appended(inherited['NODE_OPTIONS'], `--require ${JSON.stringify(PRELOAD)}`),
    PERL_LWP_ENV_PROXY: '1',
    ...(trust && trustVariables(trust, inherited)),
    ...javaVariables(surroundings, noProxy.value),
  }
  return {
    environment: { ...inherited, ...proxyVariables(proxy), ...told, ...placeholders },
    bypasses: noProxy.removed,
    changes: {
      ...changesOf(told, (name) => inherited[name] ?? null),
      ...changesOf(placeholders, () => null),
    },
  }
}

function changesOf(set: Environment, before: (name: string) => string | null): Changes {
  return Object.fromEntries(Object.entries(set).map(([name, value]) => [name, { set: value, before: before(name) }]))
}

function proxyVariables({ port, username, password }: ChildSurroundings['proxy']): Environment {
  const url = `http://${username}:${password.reveal()}@127.0.0.1:${port}`
  return {
    HTTPS_PROXY: url,
    HTTP_PROXY: url,
    https_proxy: url,
    http_proxy: url,
    ALL_PROXY: url,
    all_proxy: url,
  }
}

function trustVariables(trust: TrustFiles, inherited: Environment): Environment {
  const replaced = [...REPLACING, ...REPLACING_WHERE_SET.filter((name) => inherited[name] !== undefined)]
  return {
    ...Object.fromEntries(replaced.map((name) => [name, trust.bundle])),
    NODE_EXTRA_CA_CERTS: trust.authority,
    DENO_CERT: trust.authority,
    WGETRC: trust.wgetrc,
    // An empty first member stands for the folder PHP was built with.
    PHP_INI_SCAN_DIR: `${inherited['PHP_INI_SCAN_DIR'] ?? ''}:${trust.phpIni}`,
  }
}

/**
 * A JVM is given no credentials: neither the JDK nor Maven can be told them. It goes to the listener that needs none, and
 * where there is no such listener Java is left alone.
 */
function javaVariables({ inherited, proxy: { openPort }, trust }: ChildSurroundings, noProxy: string): Environment {
  if (openPort === undefined || trust?.trustStore === undefined) return {}
  const options = [
    ...['https', 'http'].flatMap((scheme) => [`-D${scheme}.proxyHost=127.0.0.1`, `-D${scheme}.proxyPort=${openPort}`]),
    `-Dhttp.nonProxyHosts="${javaExceptions(noProxy)}"`,
    // Maven 3.9 and newer look at the options above only when they are told to.
    '-Daether.connector.http.useSystemProperties=true',
    '-Daether.transport.http.useSystemProperties=true',
    '-Djavax.net.ssl.trustStoreType=PKCS12',
    `-Djavax.net.ssl.trustStore="${trust.trustStore}"`,
  ]
  return { JAVA_TOOL_OPTIONS: appended(inherited['JAVA_TOOL_OPTIONS'], options.join(' ')) }
}

function appended(value: string | undefined, more: string): string {
  return value ? `${value} ${more}` : more
}
