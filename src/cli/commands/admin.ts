import { type DaemonClient, isNothingListening } from '../../client/index.ts'
import { readDaemonInfo, readOperatorSecret } from '../../config/index.ts'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import { askTwice } from '../ask-twice.ts'
import type { Invocation } from '../invocation.ts'
import { readPipedSecret } from '../piped-secret.ts'
import { connect } from '../session.ts'
import type { Terminal } from '../terminal.ts'

/** Gives an account another password, by the secret in the home of the daemon on this machine. */
export async function resetPassword(invocation: Invocation, email: string): Promise<void> {
  const { config, output, terminal } = invocation
  const client = await daemonHere(invocation)
  try {
    const operator = readOperatorSecret(config.paths)
    if (!operator) throw noDaemon()
    const password = terminal.canAsk ? await askTwice(terminal, `New password of ${email}`) : await piped(terminal)
    const done = await client.resetPassword({ email, password }, operator)
    output.result(done, () => {
      output.done(`The account ${done.email} has another password`)
      output.note('Its browsers are signed out, and what was tried on it is forgotten. Its agents go on.')
    })
  } finally {
    client.close()
  }
}

const LOOPBACK = ['127.0.0.1', '[::1]'] as const

/** The running daemon of this home, by loopback: whatever daemon the commands of this home call, and however it is reached. */
async function daemonHere({ config, log }: Invocation): Promise<DaemonClient> {
  const info = readDaemonInfo(config.paths)
  if (!info) throw noDaemon()
  for (const host of LOOPBACK) {
    const client = connect({ ...config, baseUrl: `http://${host}:${info.port}`, baseUrlIsOwn: true }, log)
    try {
      await client.prove()
      return client
    } catch (error) {
      client.close()
      if (!isNothingListening(error)) throw error
    }
  }
  throw noDaemon()
}

function noDaemon(): BrokerError {
  return new BrokerError('DaemonUnavailableError', 'No daemon of this home answers on this machine', {
    hint: 'Run it as the user, and with the BROKER_HOME, of a daemon that runs and listens on loopback or on all addresses.',
  })
}

function piped({ input }: Terminal): Promise<Secret> {
  return readPipedSecret(input, 'line', 'Type it at a terminal, or pipe it in, on one line.')
}
