import { BrokerError } from '../../protocol/index.ts'
import type { ConnectionDetail } from '../../schemas/index.ts'
import { day } from '../day.ts'
import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { asAgent } from '../session.ts'

export async function listConnections(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const connections = await asAgent(invocation, (client) => client.connections())
  output.result({ connections }, () => {
    if (connections.length === 0) return output.note('No connections yet. Store one with `broker login <provider>`.')
    output.table(
      ['PROVIDER', 'CONNECTION', 'DEFAULT', 'STATUS', 'TYPE', 'LAST USED'],
      connections.map((connection) => [
        connection.provider,
        connection.connection,
        connection.is_default ? 'yes' : '',
        connection.status,
        connection.auth_type,
        connection.last_used_at ? day(connection.last_used_at) : 'never',
      ]),
    )
  })
}

export async function inspectConnections(invocation: Invocation, name: string): Promise<void> {
  const { output } = invocation
  const provider = providerNamed(name)
  const connections = await asAgent(invocation, async (client) => {
    const [all] = await Promise.all([client.connections(), client.provider(provider)])
    const own = all.filter((connection) => connection.provider === provider)
    return Promise.all(own.map(({ connection }) => client.connection(provider, connection)))
  })
  if (connections.length === 0) {
    throw new BrokerError('ConnectionNotFoundError', `There is no connection of ${provider}`, {
      provider,
      hint: `Store one with \`broker login ${provider}\`.`,
    })
  }
  output.result({ provider, connections }, () => {
    for (const connection of connections) output.facts(factsOf(connection))
  })
}

function factsOf(connection: ConnectionDetail): readonly (readonly [string, string | undefined])[] {
  return [
    ['Connection', `${connection.connection}${connection.is_default ? ' (default)' : ''}`],
    ['Status', connection.status],
    ['Type', `${connection.auth_type}, by ${connection.flow}`],
    ['Account', connection.account?.label ?? connection.account?.id],
    ['Scopes', connection.scopes.join(' ') || undefined],
    ['Base URL', connection.base_url],
    ...Object.entries(connection.credential).map(([name, value]) => [name, value] as const),
    ['Created', day(connection.created_at)],
    ['Updated', day(connection.updated_at)],
    ['Expires', connection.expires_at && day(connection.expires_at)],
    ['Last used', connection.last_used_at ? day(connection.last_used_at) : 'never'],
  ]
}

export async function setDefaultConnection(
  invocation: Invocation,
  provider: string,
  connection: string,
): Promise<void> {
  const { output } = invocation
  const answer = await asAgent(invocation, (client) =>
    client.setDefault(providerNamed(provider), connectionNamed(connection)),
  )
  output.result(answer, () => output.done(`${answer.provider} uses "${answer.default_connection}" from now on`))
}
