import { BrokerError, exitCodeOf } from '../../protocol/index.ts'
import type { ProviderSummary, Revoked } from '../../schemas/index.ts'
import type { Invocation } from '../invocation.ts'
import { providerNamed } from '../named.ts'
import { failureDocument } from '../output.ts'
import { cancelled } from '../prompt.ts'
import { asAgent } from '../session.ts'
import { exportProviders } from './provider-export.ts'
import { catalogueLine } from './provider-update.ts'

interface Answers {
  readonly yes?: boolean
}

export async function listProviders(invocation: Invocation): Promise<void> {
  const { output } = invocation
  const [list, catalogue] = await asAgent(invocation, (client) => Promise.all([client.providers(), client.catalogue()]))
  output.result(list, () => {
    const connected = [...list.bundled, ...list.custom].filter(({ connections }) => connections > 0).length
    const counts = `${list.bundled.length} bundled, ${list.custom.length} custom, ${connected} connected`
    output.note(`${counts}; ${catalogueLine(catalogue)}`)
    output.table(
      ['PROVIDER', 'NAME', 'TYPE', 'FLOW', 'SOURCE', 'CONNECTIONS'],
      [...list.custom, ...list.bundled].map(rowOf),
      { shorten: ['CONNECTIONS', 'NAME', 'FLOW'] },
    )
  })
}

function rowOf({ name, display_name, auth_type, flow, source, connections }: ProviderSummary): readonly string[] {
  return [name, display_name, auth_type, flow, source, connections === 0 ? '' : String(connections)]
}

/** Always JSON: a definition has no better form. With `definition` that alone, without where it came from. */
export async function inspectProvider(
  invocation: Invocation,
  name: string,
  { definition: isAlone }: { readonly definition?: boolean },
): Promise<void> {
  const provider = providerNamed(name)
  if (isAlone) return exportProviders(invocation, [provider], {})
  const [definition, all] = await asAgent(invocation, (client) =>
    Promise.all([client.provider(provider), client.connections()]),
  )
  const connections = all.filter((connection) => connection.provider === provider)
  invocation.output.document({ definition, connections })
}

/** Exit code of an endpoint that cannot be reached where the provider could not be told. */
export async function revokeProvider(invocation: Invocation, name: string, { yes }: Answers): Promise<number> {
  const { output, terminal } = invocation
  const provider = providerNamed(name)
  if (!yes && terminal.canAsk && !(await terminal.confirm(`Revoke and remove every connection of ${provider}?`))) {
    throw cancelled()
  }
  const answer = await asAgent(invocation, (client) => client.revoke(provider))
  const failure = answer.status === 'partial' ? notRevoked(answer) : undefined
  output.result(failure ? { ...answer, ...failureDocument(failure) } : answer, () => {
    output.done(`Removed ${counted(answer.removed, 'connection')} of ${provider}`)
    if (failure) output.fail(failure)
    else output.note(REMOTE[answer.remote])
  })
  return failure ? exitCodeOf[failure.name] : 0
}

const REMOTE = {
  revoked: 'The provider has revoked them, too.',
  unsupported: 'The provider has no way to revoke them from here: end the access on its own site.',
  failed: 'The provider could not be told.',
} as const

function notRevoked({ provider }: Revoked): BrokerError {
  return new BrokerError('EndpointUnreachableError', `${provider} could not be told to revoke what was removed here`, {
    provider,
    hint: 'End the access on its own site.',
  })
}

export async function removeProvider(invocation: Invocation, name: string, { yes }: Answers): Promise<void> {
  const { output, terminal } = invocation
  const provider = providerNamed(name)
  const { answer, names, wasOwn } = await asAgent(invocation, async (client) => {
    const [all, { custom }] = await Promise.all([client.connections(), client.providers()])
    const wasOwn = custom.some((one) => one.name === provider)
    const names = all.filter((one) => one.provider === provider).map(({ connection }) => connection)
    const what = `Remove the definition of ${provider}${names.length === 0 ? '' : ` and ${connectionsOf(names)}`}?`
    if (!yes && terminal.canAsk && !(await terminal.confirm(what))) throw cancelled()
    return { answer: await client.removeProvider(provider), names, wasOwn }
  })
  // Whoever was not asked is told, also where the answer is for a program.
  if (answer.connections_removed > 0)
    output.notice(`Removed ${counted(names.length, 'connection')} of ${provider}: ${names.join(', ')}`)
  output.result(answer, () => {
    if (answer.action === 'removed') output.done(`Removed ${provider}`)
    else if (wasOwn || answer.connections_removed > 0) output.done(`Reset ${provider} to its shipped form`)
    else output.done(`Nothing to reset: ${provider} is in its shipped form`)
  })
}

function connectionsOf(names: readonly string[]): string {
  return `its ${counted(names.length, 'connection')} (${names.join(', ')})`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
