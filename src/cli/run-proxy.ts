import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { type Config, keepMemoryPrivate, loadConfig, upstreamRoots, userFolder } from '../config/index.ts'
import { authorityOfUrl } from '../network/index.ts'
import { type CorporateProxy, parseConnectTo, parseCorporateProxy, throughOuterRun } from '../proxy/index.ts'
import { openRunChannel, type ProxySettings, serveRun } from '../run/index.ts'
import { type DebugLog, openDebugLog } from './debug-log.ts'
import { connect } from './session.ts'
import { startRunProxy } from './start-run-proxy.ts'

/** The process of a run's proxy: `broker run` starts it and speaks with it over the channel that it was born with. */
export async function main(): Promise<void> {
  keepMemoryPrivate()
  const config = loadConfig(process.env, userFolder())
  const temporaryFolder = resolve(tmpdir())
  // It may stay for long, and the folder that it was started in need not.
  process.chdir('/')
  // Until the run says where to, nothing is logged.
  let log: DebugLog = { write: () => {} }
  await serveRun({
    channel: openRunChannel(),
    clientOf: (signer) => connect(config, log, signer),
    proxySettings: () => settingsOf(config),
    inherited: config.inherited,
    startProxy: () => startRunProxy(config.environment),
    temporaryFolder,
    openLog: (path) => {
      log = openDebugLog({ path, isDefault: path === config.paths.clientLog })
      // A file that cannot be used is told of now, before the command starts, and not in the middle of a request.
      log.write({ event: 'proxy_started' })
      return (event) => log.write({ ...event })
    },
  })
}

function settingsOf(config: Config): ProxySettings {
  const corporateProxy = corporateProxyOf(config)
  return {
    upstreamCa: upstreamRoots(config.proxy),
    connectTo: parseConnectTo(config.proxy.connectTo ?? ''),
    ...(corporateProxy && { corporateProxy }),
    daemonAddresses: [authorityOfUrl(new URL(config.baseUrl))],
  }
}

function corporateProxyOf({ outerRun, proxy }: Config): CorporateProxy | undefined {
  const settings = parseCorporateProxy({
    https_proxy: proxy.httpsProxy?.reveal(),
    http_proxy: proxy.httpProxy?.reveal(),
    no_proxy: proxy.noProxy,
  })
  return settings && outerRun !== undefined ? throughOuterRun(settings) : settings
}
