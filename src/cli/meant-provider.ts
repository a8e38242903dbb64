import type { DaemonClient } from '../client/index.ts'
import { BrokerError, nearestWord } from '../protocol/index.ts'
import type { Connection } from '../schemas/index.ts'

/** The failure of a command that named a connection, with the provider or the connection that was probably meant. */
export async function withMeantProvider(error: unknown, client: DaemonClient): Promise<unknown> {
  if (!(error instanceof BrokerError) || error.name !== 'ConnectionNotFoundError') return error
  const { provider } = error.options
  const known = provider === undefined ? undefined : await knownNames(client)
  if (provider === undefined || known === undefined) return error
  if (known.providers.has(provider)) return withMeantConnection(error, known.connections)
  const meant = nearestWord(provider, known.providers)
  const message = `${error.message}; there is no such provider either`
  const hint = meant === undefined ? 'See what there is: broker provider list' : `Did you mean ${meant}?`
  return new BrokerError(error.name, message, { ...error.options, hint, cause: error })
}

function withMeantConnection(error: BrokerError, connections: readonly Connection[]): BrokerError {
  const { provider, connection } = error.options
  const names = connections.filter((one) => one.provider === provider).map((one) => one.connection)
  const meant = connection === undefined ? undefined : nearestWord(connection, names)
  if (meant === undefined) return error
  return new BrokerError(error.name, error.message, { ...error.options, hint: `Did you mean ${meant}?`, cause: error })
}

interface KnownNames {
  readonly providers: ReadonlySet<string>
  readonly connections: readonly Connection[]
}

async function knownNames(client: DaemonClient): Promise<KnownNames | undefined> {
  try {
    const [{ bundled, custom }, connections] = await Promise.all([client.providers(), client.connections()])
    const names = [...[...bundled, ...custom].map(({ name }) => name), ...connections.map(({ provider }) => provider)]
    return { providers: new Set(names), connections }
  } catch {
    // What failed first is what is to be told.
    return undefined
  }
}
