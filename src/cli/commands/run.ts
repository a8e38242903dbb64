import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Config } from '../../config/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import { type CorporateProxy, parseConnectTo, parseCorporateProxy } from '../../proxy/index.ts'
import { runCommand } from '../../run/index.ts'
import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { ensureDaemon } from '../own-daemon.ts'
import { activeSigner, asAgent, connect } from '../session.ts'

export interface RunCommandOptions {
  readonly connection?: Readonly<Record<string, string>>
  readonly only?: readonly string[]
  readonly strict?: boolean
}

/** Exits as the command did. */
export async function run(
  invocation: Invocation,
  [file = '', ...args]: readonly string[],
  options: RunCommandOptions,
): Promise<number> {
  const { config, log, output } = invocation
  const upstreamCa = furtherRoots(config)
  const connectTo = parseConnectTo(config.proxy.connectTo ?? '')
  const corporateProxy = corporateProxyOf(config)
  await ensureDaemon(config, log)
  const { handle } = activeSigner(config)
  return asAgent(invocation, (client) =>
    runCommand({
      command: [file, ...args],
      client,
      handle,
      clientOf: (signer) => connect(config, log, signer),
      ...(options.only && { only: options.only.map(providerNamed) }),
      connections: connectionsOf(options.connection ?? {}),
      proxy: {
        strict: options.strict === true,
        upstreamCa,
        connectTo,
        ...(corporateProxy && { corporateProxy }),
        daemonAddresses: [daemonAddress(config)],
        log: (event) => log.write({ ...event }),
      },
      inherited: config.inherited,
      temporaryFolder: tmpdir(),
      atTerminal: process.stdin.isTTY === true || process.stdout.isTTY === true || process.stderr.isTTY === true,
      warn: (message) => output.notice(`broker: ${message}`),
    }),
  )
}

function connectionsOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(given).map(([provider, connection]) => [providerNamed(provider), connectionNamed(connection)]),
  )
}

function furtherRoots({ proxy: { caFile } }: Config): readonly string[] {
  if (caFile === undefined) return []
  const pem = readIfThere(caFile)
  if (pem?.includes('-----BEGIN CERTIFICATE-----')) return [pem]
  throw new BrokerError('InvalidRequestError', `BROKER_PROXY_CA_FILE names no PEM file of certificates: "${caFile}"`)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function corporateProxyOf({ proxy: { httpsProxy, httpProxy, noProxy } }: Config): CorporateProxy | undefined {
  return parseCorporateProxy({
    https_proxy: httpsProxy?.reveal(),
    http_proxy: httpProxy?.reveal(),
    no_proxy: noProxy,
  })
}

function daemonAddress({ baseUrl }: Config): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(baseUrl)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}
