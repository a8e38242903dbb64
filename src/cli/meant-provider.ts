import type { DaemonClient } from '../client/index.ts'
import { BrokerError, nearestWord } from '../protocol/index.ts'

/** The failure of a command that named a connection, with the provider that was probably meant where its own is not there. */
export async function withMeantProvider(error: unknown, client: DaemonClient): Promise<unknown> {
  if (!(error instanceof BrokerError) || error.name !== 'ConnectionNotFoundError') return error
  const { provider } = error.options
  const known = provider === undefined ? undefined : await knownNames(client)
  if (provider === undefined || known === undefined || known.includes(provider)) return error
  const meant = nearestWord(provider, known)
  const message = `${error.message}; there is no such provider either`
  const hint = meant === undefined ? 'See what there is: broker provider list' : `Did you mean ${meant}?`
  return new BrokerError(error.name, message, { ...error.options, hint, cause: error })
}

async function knownNames(client: DaemonClient): Promise<readonly string[] | undefined> {
  try {
    const [{ bundled, custom }, connections] = await Promise.all([client.providers(), client.connections()])
    return [...[...bundled, ...custom].map(({ name }) => name), ...connections.map(({ provider }) => provider)]
  } catch {
    // What failed first is what is to be told.
    return undefined
  }
}
