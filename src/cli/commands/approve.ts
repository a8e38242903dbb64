import type { DaemonClient } from '../../client/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { Approval, Approved } from '../../schemas/index.ts'
import type { Invocation } from '../invocation.ts'
import { connectionNamed, providerNamed } from '../named.ts'
import { cancelled } from '../prompt.ts'
import { asAgent } from '../session.ts'

export interface ApproveOptions {
  readonly connection?: string
  readonly all?: boolean
  readonly yes?: boolean
}

interface Which {
  readonly provider: string | undefined
  readonly connection: string | undefined
}

/** Shows what would change for each connection, and asks: once for all that go to no new domain, and for each other. */
export async function approveConnections(
  invocation: Invocation,
  provider: string | undefined,
  options: ApproveOptions,
): Promise<void> {
  const { output, terminal } = invocation
  if (provider === undefined && options.connection !== undefined) {
    throw new BrokerError('InvalidRequestError', '--connection needs the provider that it belongs to', {
      hint: 'broker connections approve <provider> --connection <name>',
    })
  }
  const which = {
    provider: provider === undefined ? undefined : providerNamed(provider),
    connection: options.connection === undefined ? undefined : connectionNamed(options.connection),
  }
  const approved = await asAgent(invocation, async (client) => {
    const wanted = await unapproved(client, which, output)
    if (wanted.length === 0) return []
    for (const one of wanted) show(invocation, one)
    if (!options.yes && !terminal.canAsk) throw mustBeConfirmed(wanted.length)
    if (!options.yes) await confirm(invocation, wanted)
    const done: Approved[] = []
    for (const one of wanted) done.push(await client.approve(one))
    return done
  })
  output.result({ status: 'ok', approved }, () => {
    if (approved.length === 0) output.done('Nothing to approve')
    for (const one of approved) output.done(`Connection "${one.connection}" of ${one.provider} serves again`)
  })
}

async function unapproved(
  client: DaemonClient,
  which: Which,
  output: Invocation['output'],
): Promise<readonly Approval[]> {
  const { provider, connection } = which
  if (provider !== undefined && connection !== undefined) {
    const { status } = await client.connection(provider, connection)
    return status === 'needs_approval' ? [await client.approval(provider, connection)] : []
  }
  const all = (await client.connections()).filter((one) => provider === undefined || one.provider === provider)
  if (provider !== undefined && all.length === 0) {
    await client.provider(provider)
    throw new BrokerError('ConnectionNotFoundError', `There is no connection of ${provider}`, {
      provider,
      hint: `Store one with \`broker login ${provider}\`.`,
    })
  }
  const waiting = all.filter(({ status }) => status === 'needs_approval')
  const found = await Promise.all(
    waiting.map((one) =>
      client.approval(one.provider, one.connection).catch((error: unknown) => sayWhyNot(output, error)),
    ),
  )
  const approvable = found.filter((one) => one !== undefined)
  const [first] = waiting
  if (first && approvable.length === 0)
    throw new BrokerError('OperationNotAllowedError', 'None of these connections can be approved as it is', {
      provider: first.provider,
      hint: first.attention?.fix ?? 'See `broker doctor`.',
    })
  return approvable
}

/** One that cannot be approved keeps no other from it. */
function sayWhyNot(output: Invocation['output'], error: unknown): undefined {
  if (!(error instanceof BrokerError) || error.name !== 'NotFoundError') throw error
  output.warn(`${error.message}. ${error.options.hint ?? ''}`)
}

function show({ output }: Invocation, approval: Approval): void {
  const { provider, connection, added, removed, known, new_domains } = approval
  output.notice(`Connection "${connection}" of ${provider}`)
  for (const line of Object.values(added).flat()) output.notice(`  + ${line}`)
  for (const line of Object.values(removed).flat()) output.notice(`  - ${line}`)
  if (!known) output.warn('What it was for before is not known any more: look at all of it.')
  else if (new_domains.length > 0) output.warn(`Its credential was never for ${new_domains.join(', ')}.`)
}

async function confirm({ terminal }: Invocation, wanted: readonly Approval[]): Promise<void> {
  const familiar = wanted.filter(({ new_domains }) => new_domains.length === 0)
  if (familiar.length > 0 && !(await terminal.confirm(questionFor(familiar)))) throw cancelled()
  for (const { provider, new_domains } of wanted.filter((one) => one.new_domains.length > 0)) {
    const question = `Send the credential of ${provider} to ${new_domains.join(', ')} too?`
    if (!(await terminal.confirm(question))) throw cancelled()
  }
}

function questionFor([first, ...others]: readonly Approval[]): string {
  if (first === undefined || others.length > 0) return `Approve these ${others.length + 1} connections?`
  return `Approve connection "${first.connection}" of ${first.provider}?`
}

function mustBeConfirmed(count: number): BrokerError {
  const what = count === 1 ? 'a connection' : `${count} connections`
  return new BrokerError('InputCancelledError', `Cannot ask whether to approve ${what}: this is no terminal`, {
    hint: 'Look at the difference above, and confirm with --yes.',
  })
}
