import { attentionLine, BrokerError } from '../../protocol/index.ts'
import type { Connection, ConnectionDetail } from '../../schemas/index.ts'
import { day } from '../day.ts'
import { distance } from '../duration.ts'
import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { asAgent } from '../session.ts'

export async function listConnections(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const { connections, attention } = await asAgent(invocation, (client) => client.connectionList())
  output.result({ connections, attention }, () => {
    if (connections.length === 0) return output.note('No connections yet. Store one with `broker login <provider>`.')
    const shown = columns.filter(([, cell, when]) => when === 'always' || connections.some((one) => cell(one)))
    output.table(
      shown.map(([title]) => title),
      connections.map((connection) => shown.map(([, cell]) => cell(connection))),
      { shorten: ['ACCOUNT', 'LAST USED', 'EXPIRES', 'DEFAULT', 'FLOW'] },
    )
    for (const one of attention) output.warn(attentionLine(one))
  })
}

type Column = readonly [title: string, cell: (one: Connection) => string | undefined, when: 'always' | 'if any']

const columns: readonly Column[] = [
  ['PROVIDER', ({ provider }) => provider, 'always'],
  ['CONNECTION', ({ connection }) => connection, 'always'],
  ['DEFAULT', ({ is_default }) => (is_default ? 'yes' : undefined), 'always'],
  ['STATUS', statusOf, 'always'],
  ['FLOW', ({ flow }) => flow, 'always'],
  ['ACCOUNT', whereabouts, 'if any'],
  ['EXPIRES', expiryOf, 'if any'],
  ['LAST USED', ({ last_used_at }) => (last_used_at ? day(last_used_at) : 'never'), 'always'],
]

/** What keeps it from serving says more than its status. */
function statusOf({ status, attention }: Connection): string {
  return attention?.kind ?? status
}

function accountOf({ account }: Connection): string | undefined {
  return account?.label ?? account?.id
}

/** As whom it acts, or at which of several servers. */
function whereabouts(connection: Connection): string | undefined {
  const { base_url: address } = connection
  return accountOf(connection) ?? (address === undefined ? undefined : URL.parse(address)?.host)
}

/** An access token that has ended is no loss where another can be had for it. */
function expiryOf({ status, expires_at, attention }: Connection): string | undefined {
  if (expires_at === undefined) return undefined
  if (attention?.kind === 'refresh_failing') return 'not refreshed'
  const isOver = Date.parse(expires_at) <= Date.now()
  return isOver && status === 'connected' ? 'refreshed at the next use' : distance(expires_at)
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
  const { connection: name, scopes } = connection
  return [
    ['Connection', `${name}${connection.is_default ? ' (default)' : ''}`],
    ['Status', connection.status],
    ['', adviceOf(connection)],
    ['Type', `${connection.auth_type}, by ${connection.flow}`],
    ['Account', accountOf(connection)],
    ['Scopes', scopes.join(' ') || undefined],
    ['Base URL', connection.base_url],
    ...Object.entries(connection.credential).map(([field, value]) => [field, value] as const),
    ['Created', day(connection.created_at)],
    ['Updated', day(connection.updated_at)],
    ['Expires', lifeOf(connection)],
    ['Last used', connection.last_used_at ? day(connection.last_used_at) : 'never'],
  ]
}

/** Why it does not serve, or soon will not, and what to do. */
function adviceOf({ attention }: ConnectionDetail): string | undefined {
  return attention && `Since ${day(attention.since)}: ${attention.reason} Mend it: ${attention.fix}`
}

function lifeOf(connection: ConnectionDetail): string | undefined {
  const expiry = expiryOf(connection)
  if (connection.expires_at === undefined || expiry === undefined) return undefined
  const refreshed = connection.status === 'connected' && 'refresh_token' in connection.credential
  const isOver = Date.parse(connection.expires_at) <= Date.now()
  return `${day(connection.expires_at)} (${refreshed && !isOver ? `${expiry}, refreshed by itself` : expiry})`
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
