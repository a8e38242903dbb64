import { fileURLToPath } from 'node:url'
import type { Secret } from '../protocol/index.ts'
import { noProxyEntries, noProxyFor } from './no-proxy.ts'
import { REPLACING, type TrustFiles } from './trust-files.ts'

type Environment = Readonly<Record<string, string>>

export interface ChildProxy {
  readonly port: number
  /** Of the run alone, worthless elsewhere and after it. */
  readonly username: string
  readonly password: Secret
}

export interface ChildSurroundings {
  /** The parent's environment without `BROKER_*`. */
  readonly inherited: Environment
  readonly proxy: ChildProxy
  /** Undefined where nothing is intercepted, so that no tool has to trust anything. */
  readonly trust: TrustFiles | undefined
  /** By variable name; only of providers that are connected. */
  readonly placeholders: Environment
  readonly routedHosts: readonly string[]
}

const PRELOAD = fileURLToPath(new URL('./preload.cjs', import.meta.url))

/** The child's whole environment; `bypasses` are the user's NO_PROXY entries that had to go. */
export function childEnvironment({ inherited, proxy, trust, placeholders, routedHosts }: ChildSurroundings): {
  readonly environment: Environment
  readonly bypasses: readonly string[]
} {
  const noProxy = noProxyFor(noProxyEntries(inherited), routedHosts)
  const environment = {
    ...inherited,
    ...proxyVariables(proxy),
    NO_PROXY: noProxy.value,
    no_proxy: noProxy.value,
    NODE_OPTIONS: appended(inherited['NODE_OPTIONS'], `--require ${JSON.stringify(PRELOAD)}`),
    ...(trust && trustVariables(trust, inherited)),
    ...(trust?.trustStore && { JAVA_TOOL_OPTIONS: javaOptions(inherited, proxy.port, trust.trustStore) }),
    ...placeholders,
  }
  return { environment, bypasses: noProxy.removed }
}

function proxyVariables({ port, username, password }: ChildProxy): Environment {
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
  return {
    ...Object.fromEntries(REPLACING.map((name) => [name, trust.bundle])),
    NODE_EXTRA_CA_CERTS: trust.authority,
    DENO_CERT: trust.authority,
    WGETRC: trust.wgetrc,
    // An empty first member stands for the folder PHP was built with.
    PHP_INI_SCAN_DIR: `${inherited['PHP_INI_SCAN_DIR'] ?? ''}:${trust.phpIni}`,
  }
}

function javaOptions(inherited: Environment, port: number, trustStore: string): string {
  const options = [
    '-Dhttps.proxyHost=127.0.0.1',
    `-Dhttps.proxyPort=${port}`,
    '-Dhttp.proxyHost=127.0.0.1',
    `-Dhttp.proxyPort=${port}`,
    // Basic credentials for a tunnel are off by default in Java.
    '-Djdk.http.auth.tunneling.disabledSchemes=',
    '-Djavax.net.ssl.trustStoreType=PKCS12',
    `-Djavax.net.ssl.trustStore="${trustStore}"`,
  ]
  return appended(inherited['JAVA_TOOL_OPTIONS'], options.join(' '))
}

function appended(value: string | undefined, more: string): string {
  return value ? `${value} ${more}` : more
}
