import { type Config, readDaemonInfo } from '../../config/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import { ensureDashboard } from '../built-dashboard.ts'
import type { Invocation } from '../invocation.ts'
import { failureDocument } from '../output.ts'
import { DAEMON_COMMAND, ensureDaemon, requireOwn, startDaemon, stopDaemon, withCompileCache } from '../own-daemon.ts'
import { connect } from '../session.ts'
import { versionSkew } from '../version-skew.ts'

/** Becomes the daemon: same process, so that a service manager's signals reach it. */
export async function serveDaemon({ config }: Invocation): Promise<never> {
  await ensureDashboard()
  const [file, ...args] = DAEMON_COMMAND
  return process.execve?.(file, [file, ...args, '--log-to-stderr'], withCompileCache(config.environment)) as never
}

export async function startDaemonCommand({ config, log, output, terminal, version }: Invocation): Promise<void> {
  requireOwn(config)
  const spinner = terminal.spin('Starting the daemon')
  const how = await ensureDaemon(config, log).finally(() => spinner.stop())
  noticeSkew({ config, output, version }, readDaemonInfo(config.paths)?.version)
  output.result({ status: how === 'started' ? 'started' : 'already_running', ...factsOf(config) }, () =>
    output.done(
      how === 'started' ? `The daemon runs at ${config.baseUrl}` : `The daemon already runs at ${config.baseUrl}`,
    ),
  )
}

export async function stopDaemonCommand({ config, log, output, terminal }: Invocation): Promise<void> {
  const spinner = terminal.spin('Stopping the daemon')
  const stopped = await stopDaemon(config, log).finally(() => spinner.stop())
  output.result({ status: stopped ? 'stopped' : 'not_running', ...(stopped && { pid: stopped.pid }) }, () =>
    output.done(stopped ? `Stopped the daemon (pid ${stopped.pid})` : 'The daemon was not running'),
  )
}

export async function restartDaemon({ config, log, output, terminal }: Invocation): Promise<void> {
  const spinner = terminal.spin('Restarting the daemon')
  try {
    await stopDaemon(config, log)
    await startDaemon(config, log)
  } finally {
    spinner.stop()
  }
  output.result({ status: 'restarted', ...factsOf(config) }, () => output.done(`The daemon runs at ${config.baseUrl}`))
}

/** Exit code 9 where it does not run. */
export async function daemonStatus({ config, log, output, version }: Invocation): Promise<number> {
  const client = connect(config, log)
  try {
    const { status: _ok, ...health } = await client.prove()
    noticeSkew({ config, output, version }, health.version)
    output.result({ status: 'running', ...factsOf(config), ...health }, () =>
      output.facts([
        ['Status', 'running'],
        ['Address', config.baseUrl],
        ...(config.baseUrlIsOwn ? localFacts(config) : []),
        ['Version', health.version],
        ['Encryption', health.encryption_backend ?? health.effective_encryption_source],
      ]),
    )
    return 0
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    if (!output.json) return output.fail(error)
    output.document({ status: 'stopped', daemon_url: config.baseUrl, ...failureDocument(error) })
    return 9
  } finally {
    client.close()
  }
}

function noticeSkew(
  { config, output, version }: Pick<Invocation, 'config' | 'output' | 'version'>,
  daemon: string | undefined,
): void {
  const skew = daemon === undefined ? undefined : versionSkew(version, daemon, config)
  if (skew !== undefined) output.noticeOnce(skew)
}

function factsOf(config: Config) {
  const info = config.baseUrlIsOwn ? readDaemonInfo(config.paths) : undefined
  return {
    daemon_url: config.baseUrl,
    ...(info && { pid: info.pid, port: info.port, started_at: info.started_at, version: info.version, did: info.did }),
  }
}

function localFacts({ paths }: Config): readonly (readonly [string, string | undefined])[] {
  const info = readDaemonInfo(paths)
  return [
    ['Process', info && String(info.pid)],
    ['Since', info?.started_at],
    ['Home', paths.home],
  ]
}
