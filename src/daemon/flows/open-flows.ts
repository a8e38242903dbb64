import { assertIdentity } from './assert-identity.ts'
import { authorize } from './authorize.ts'
import { grantToClient, logInAsClient } from './client-credentials.ts'
import { pollDevice, startDevice } from './device.ts'
import { discover } from './discover.ts'
import { exchange } from './exchange.ts'
import type { Flows, Party } from './flows.ts'
import { type OutboundOptions, openOutbound } from './outbound-request.ts'
import { asBrokerError } from './provider-failure.ts'
import { refresh } from './refresh.ts'
import { register } from './register.ts'
import { revoke } from './revoke.ts'

export interface FlowsOptions extends OutboundOptions {
  /** Where others reach this daemon, without a slash at its end. */
  readonly publicUrl?: string
  readonly now?: () => number
}

export function openFlows({ publicUrl, now = Date.now, ...outbound }: FlowsOptions): Flows {
  const ask = openOutbound(outbound)
  const means = { ask, now }
  return {
    discover: (definition, baseUrl) => telling({ definition }, () => discover(ask, definition, baseUrl)),
    register: ({ server, ...wanted }) =>
      telling({ server }, () => register(ask, { server, ...wanted, ...(publicUrl !== undefined && { publicUrl }) })),
    authorize: (request) => telling(request, () => authorize(request)),
    exchange: (started, callback) => telling(started, () => exchange(means, started, callback)),
    startDevice: (request) => telling(request, () => startDevice(means, request)),
    pollDevice: (started, interval) => telling(started, () => pollDevice(means, started, interval)),
    refresh: (request) => refresh(means, request),
    logInAsClient: (request) => telling(request, () => logInAsClient(means, request)),
    grantToClient: (request) => grantToClient(means, request),
    assert: (request) => assertIdentity(means, request),
    revoke: (request) => revoke(means, request),
  }
}

/** Returns what went wrong, as something that a caller can act on. */
async function telling<Result>(
  { definition, server }: Partial<Pick<Party, 'definition' | 'server'>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (definition !== undefined) throw asBrokerError(error, `log in to ${definition.display_name}`, definition.name)
    throw asBrokerError(error, `register at ${server?.issuer ?? 'this server'}`)
  }
}
