import {
  type Config,
  listIdentities,
  readIdentity,
  readIdentityKey,
  removeIdentity,
  writeClientConfig,
} from '../../config/index.ts'
import { BrokerError, nearestWord } from '../../protocol/index.ts'
import { day } from '../day.ts'
import { defaultHandle } from '../default-handle.ts'
import type { Invocation } from '../invocation.ts'
import { agentNamed } from '../named.ts'
import { cancelled } from '../prompt.ts'
import { createAgentKey, register } from '../registration.ts'
import { activeHandle, connect, signerOf } from '../session.ts'

/** Makes the key and, where the home's own daemon runs, has it accepted at once. */
export async function createAgent(invocation: Invocation, name?: string): Promise<void> {
  const { config, output } = invocation
  const handle = name === undefined ? freeHandle(listIdentities(config.paths)) : agentNamed(name)
  const did = createAgentKey(config, handle)
  const status = await registerIfRunning(invocation, handle)
  const active = activeHandle(config) === handle
  output.result({ status: 'created', identity: handle, did, registration: status, active }, () => {
    output.done(`Created agent "${handle}" (${did})`)
    if (!active) output.note(`Switch to it with \`broker agent use ${handle}\`.`)
    if (status !== 'claimed')
      output.note('The daemon does not know it yet; `broker onboard` makes the active agent known.')
  })
}

/** `user-host`, with a number where that is taken. */
function freeHandle(taken: readonly string[]): string {
  const base = defaultHandle().slice(0, 60)
  const candidates = [base, ...taken.map((_, at) => `${base}-${at + 2}`)]
  return candidates.find((handle) => !taken.includes(handle)) ?? base
}

async function registerIfRunning({ config, log }: Invocation, handle: string): Promise<string> {
  const client = connect(config, log, signerOf(config, handle))
  try {
    return (await register(config, client)).status
  } catch (error) {
    if (error instanceof BrokerError && error.name === 'DaemonUnavailableError') return 'not_registered'
    throw error
  } finally {
    client.close()
  }
}

export async function useAgent({ config, output }: Invocation, name: string): Promise<void> {
  const handle = agentNamed(name)
  const identity = existing(config, handle)
  writeClientConfig(config.paths, { active_identity: handle })
  output.result({ status: 'ok', identity: handle, did: identity.did }, () =>
    output.done(`Requests are signed by "${handle}" from now on`),
  )
}

export async function listAgents({ config, output }: Invocation): Promise<void> {
  const active = activeHandle(config)
  const agents = listIdentities(config.paths).flatMap((handle) => {
    const identity = readIdentity(config.paths, handle)
    if (!identity) return []
    return [{ identity: handle, did: identity.did, created_at: identity.created_at, active: handle === active }]
  })
  output.result({ agents }, () => {
    if (agents.length === 0) return output.note('No agents yet. `broker onboard` makes the first one.')
    output.table(
      ['AGENT', 'ACTIVE', 'CREATED', 'DID'],
      agents.map(({ identity, did, created_at, active: isActive }) => [
        identity,
        isActive ? 'yes' : '',
        day(created_at),
        did,
      ]),
    )
  })
}

export async function removeAgent(
  invocation: Invocation,
  name: string,
  { yes }: { readonly yes?: boolean },
): Promise<void> {
  const { config, output, terminal } = invocation
  const handle = agentNamed(name)
  existing(config, handle)
  if (!yes && !terminal.canAsk) {
    throw new BrokerError(
      'InputCancelledError',
      `Cannot ask whether to delete the key of "${handle}": this is no terminal`,
      {
        hint: 'Confirm with --yes.',
      },
    )
  }
  if (!yes && !(await terminal.confirm(`Delete the agent "${handle}" and its key for good?`))) throw cancelled()
  const wasActive = activeHandle(config) === handle
  const known = await deregister(invocation, handle)
  removeIdentity(config.paths, handle)
  if (wasActive) writeClientConfig(config.paths, { active_identity: undefined })
  output.result({ status: 'ok', identity: handle, deregistered: known }, () => {
    output.done(`Deleted agent "${handle}"`)
    if (!known) output.note('The daemon was not asked; without its key the agent can sign no more.')
    if (wasActive) output.note(successor(config))
  })
}

function successor(config: Config): string {
  const next = activeHandle(config)
  return next === undefined
    ? 'It was the active one: choose another with `broker agent use <name>`.'
    : `It was the active one: "${next}" is now.`
}

/** False where the daemon does not run or does not know the agent. */
async function deregister({ config, log }: Invocation, handle: string): Promise<boolean> {
  if (!readIdentityKey(config.paths, handle)) return false
  const client = connect(config, log, signerOf(config, handle))
  try {
    await client.removeIdentity(handle)
    return true
  } catch (error) {
    if (error instanceof BrokerError && NOT_KNOWN.has(error.name)) return false
    throw error
  } finally {
    client.close()
  }
}

const NOT_KNOWN: ReadonlySet<string> = new Set([
  'DaemonUnavailableError',
  'AuthenticationFailedError',
  'IdentityNotClaimedError',
  'NotFoundError',
])

function existing(config: Config, handle: string) {
  const identity = readIdentity(config.paths, handle)
  if (identity) return identity
  const meant = nearestWord(handle, listIdentities(config.paths))
  throw new BrokerError('NotFoundError', `There is no agent "${handle}" in this home`, {
    hint:
      meant === undefined
        ? 'See `broker agent list`, or make it with `broker agent create`.'
        : `Did you mean ${meant}? See \`broker agent list\`.`,
  })
}
