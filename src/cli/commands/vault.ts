import { setTimeout as delay } from 'node:timers/promises'
import type { DaemonClient } from '../../client/index.ts'
import { type Config, readDaemonInfo, readOperatorSecret, readPrivateFile } from '../../config/index.ts'
import { BrokerError, type EncryptionSource, Secret } from '../../protocol/index.ts'
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

/** How often the daemon is asked how far it is. */
const LOOK_AGAIN_MS = 200

/** Waits until every record of one's own vault is under the new key. Who does not wait loses nothing. */
export async function rotate(invocation: Invocation): Promise<void> {
  const { output, terminal } = invocation
  const state = await asAgent(invocation, async (client) => {
    await client.rotateVault()
    const spinner = terminal.spin('Sealing the records anew')
    try {
      for (;;) {
        const now = await client.vaultStatus()
        if (now.rotating === undefined) return now
        spinner.update(`Sealing the records anew: ${now.rotating} left`)
        await delay(LOOK_AGAIN_MS)
      }
    } finally {
      spinner.stop()
    }
  })
  const { term, records, generation } = state
  output.result({ status: 'ok', term, records, generation }, () => {
    output.done(`${records} ${records === 1 ? 'record is' : 'records are'} under data key number ${term}`)
  })
}

/** Brings the vault under another master key. */
export async function rekey(invocation: Invocation, to: EncryptionSource): Promise<void> {
  const { output, terminal } = invocation
  const given = {
    to,
    ...(to === 'passphrase' && { passphrase: await newPassphrase(terminal) }),
    ...keyOf(invocation, to),
  }
  const done = await asAgent(invocation, (client) => client.rekeyVault(given))
  output.result(done, () => {
    output.done(`The vault is under a new key: ${to}`)
    output.note(NEXT_START[to])
    output.note(
      'The old key still opens copies of before. To have it open nothing of what is stored now: broker vault rotate',
    )
  })
}

/** What the daemon needs when it starts again. */
const NEXT_START: Readonly<Record<EncryptionSource, string>> = {
  keyring: 'The daemon opens it with the OS keyring. BROKER_ENCRYPTION_MODE is to be unset, auto or keyring.',
  local_key: 'It is in server/master.key of the home. BROKER_ENCRYPTION_MODE is to be unset, auto or local_key.',
  env: 'Start the daemon with this key in BROKER_MASTER_KEY or BROKER_MASTER_KEY_FILE from now on.',
  passphrase: 'The daemon starts sealed from now on: open it with `broker unlock`, or set BROKER_PASSPHRASE_FILE.',
  command: 'Start the daemon with the same BROKER_MASTER_KEY_COMMAND from now on.',
}

function newPassphrase(terminal: Terminal): Promise<Secret> {
  return passphraseFor(terminal, CHOSEN)
}

/** The key that this very command was given, where it was. */
function keyOf({ config: { daemon } }: Invocation, to: EncryptionSource): { readonly masterKey?: Secret } {
  if (to !== 'env') return {}
  const { masterKey, masterKeyFile } = daemon
  const kept = masterKeyFile === undefined ? undefined : readPrivateFile(masterKeyFile)?.trim()
  const key = masterKey ?? (kept ? new Secret(kept) : undefined)
  return key ? { masterKey: key } : {}
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

/** Of a passphrase that is none yet, by the daemon's word. */
const CHOSEN = 'must be chosen'

function passphraseFor(terminal: Terminal, wanted: string): Promise<Secret> {
  if (!terminal.canAsk)
    return readPipedSecret(terminal.input, 'line', 'Type it at a terminal, or pipe it in, on one line.')
  return wanted === CHOSEN
    ? askTwice(terminal, 'A passphrase for this vault')
    : askSecret(terminal, 'Passphrase of the vault')
}
