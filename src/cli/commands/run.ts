import { ProxyProcess, runCommand } from '../../run/index.ts'
import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { ensureDaemon } from '../own-daemon.ts'
import { RUN_PROXY_COMMAND } from '../run-proxy-command.ts'
import { activeSigner, asAgent } from '../session.ts'

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
  const { config, log, logFile, output } = invocation
  const proxy = new ProxyProcess(RUN_PROXY_COMMAND, config.environment)
  try {
    await ensureDaemon(config, log)
    const { handle } = activeSigner(config)
    return await asAgent(invocation, (client) =>
      runCommand({
        command: [file, ...args],
        client,
        handle,
        proxy,
        ...(options.only && { only: options.only.map(providerNamed) }),
        connections: connectionsOf(options.connection ?? {}),
        strict: options.strict === true,
        inherited: config.inherited,
        logFile,
        atTerminal: process.stdin.isTTY === true || process.stdout.isTTY === true || process.stderr.isTTY === true,
        warn: (message) => output.notice(`broker: ${message}`),
      }),
    )
  } finally {
    proxy.release()
  }
}

function connectionsOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(given).map(([provider, connection]) => [providerNamed(provider), connectionNamed(connection)]),
  )
}
