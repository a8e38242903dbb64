import type { Config } from '../../config/index.ts'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import { runCopy } from '../copy-process.ts'
import type { Invocation } from '../invocation.ts'
import { readPipedSecret } from '../piped-secret.ts'
import type { Terminal } from '../terminal.ts'

interface Moved {
  readonly tables: Readonly<Record<string, { readonly rows: number }>>
}

/** Copies the store of this home into an empty Postgres, or one from there into this home. The daemon is stopped before. */
export async function migrateStore(invocation: Invocation, to: 'postgres' | 'sqlite'): Promise<void> {
  const { config, output, terminal } = invocation
  const url = await addressOf(config, terminal)
  const spinner = terminal.spin('Copying')
  const { tables } = await runCopy<Moved>(config, { do: 'move', to, secrets: { url } }).finally(() => spinner.stop())
  output.result({ status: 'ok', tables }, () => {
    output.table(
      ['TABLE', 'ROWS'],
      Object.entries(tables).map(([name, { rows }]) => [name, String(rows)]),
    )
    output.done('Every row was read back and is what it was')
    output.note(NEXT[to])
  })
}

const NEXT = {
  postgres:
    'Start the daemon with BROKER_DATABASE_URL and the same master key. The store of this home stays, and is used by nobody then.',
  sqlite: 'Start the daemon without BROKER_DATABASE_URL and with the same master key. The database stays as it is.',
} as const

/** Never an argument: that others on this machine can read. */
async function addressOf({ daemon }: Config, terminal: Terminal): Promise<Secret> {
  if (daemon.databaseUrl) return daemon.databaseUrl
  const { input } = terminal
  if (!input.isTTY)
    return readPipedSecret(input, 'line', 'Pipe in postgres://…, on one line, or set BROKER_DATABASE_URL.')
  throw new BrokerError('InvalidRequestError', 'It is not known where the Postgres is', {
    hint: 'Set BROKER_DATABASE_URL, or pipe the address in.',
  })
}
