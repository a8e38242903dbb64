import type { DaemonClient } from '../../client/index.ts'
import { type Config, readDaemonInfo, readOperatorSecret } from '../../config/index.ts'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import type { VaultState } from '../../schemas/index.ts'
import { askSecret, askTwice } from '../ask-twice.ts'
import type { Invocation } from '../invocation.ts'
import { readPipedSecret } from '../piped-secret.ts'
import { asAgent, connect } from '../session.ts'
import type { Terminal } from '../terminal.ts'

export async function vaultStatus(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const state = await asAgent(invocation, (client) => client.vaultStatus())
  output.result(state, () => output.facts(factsOf(state)))
}

function factsOf({ sealed, source, term, generation, records }: VaultState): [string, string][] {
  return [
    ['State', sealed ? 'sealed: open it with `broker unlock`' : 'open'],
    ['Key', source],
    ['Data key', `number ${term}`],
    ['Records', String(records)],
    ['Changes', String(generation)],
  ]
}

/** Has the daemon forget every key of the vault. */
export async function lock(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const state = await asAgent(invocation, (client) => client.lockVault())
  output.result({ status: 'ok', ...state }, () => {
    output.done('The vault is locked')
    output.note('Nothing is given out until `broker unlock`.')
  })
}

/** Opens the vault of the daemon: with its passphrase where it has one. */
export async function unlock({ config: configured, log, output, terminal }: Invocation): Promise<void> {
  const config = ownAddress(configured)
  const operator = config.baseUrlIsOwn ? readOperatorSecret(config.paths) : undefined
  const client = connect(config, log)
  try {
    const wanted = await tryWithout(client, operator)
    if (wanted !== undefined) await client.unlockVault({ passphrase: await passphraseFor(terminal, wanted), operator })
    output.result({ status: 'ok', sealed: false }, () => output.done('The vault is open'))
  } finally {
    client.close()
  }
}

/** The daemon of this home by loopback, where none is named: also one that others reach by its public URL. */
function ownAddress(config: Config): Config {
  const info = readDaemonInfo(config.paths)
  if (info === undefined || config.baseUrlSource !== 'default') return config
  return { ...config, baseUrl: `http://127.0.0.1:${info.port}`, baseUrlIsOwn: true }
}

/** Returns what the daemon says of the passphrase that it wants; undefined where the vault is open without one. */
async function tryWithout(client: DaemonClient, operator: Secret | undefined): Promise<string | undefined> {
  try {
    await client.unlockVault({ operator })
    return undefined
  } catch (error) {
    const detail =
      error instanceof BrokerError ? error.options.details?.find(({ path }) => path === 'passphrase') : undefined
    if (detail === undefined) throw error
    return detail.message
  }
}

function passphraseFor(terminal: Terminal, wanted: string): Promise<Secret> {
  if (!terminal.canAsk)
    return readPipedSecret(terminal.input, 'line', 'Type it at a terminal, or pipe it in, on one line.')
  return wanted === 'must be chosen'
    ? askTwice(terminal, 'A passphrase for this vault')
    : askSecret(terminal, 'Passphrase of the vault')
}
