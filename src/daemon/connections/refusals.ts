import { BrokerError } from '../../protocol/index.ts'
import type { ConnectionId } from './connection-id.ts'

export function connectionExists({ provider, connection }: ConnectionId): BrokerError {
  return new BrokerError('ConnectionAlreadyExistsError', `Connection "${connection}" of ${provider} exists already`, {
    provider,
    connection,
    hint: 'Use --force to replace it, or another --connection name.',
  })
}

export function notFound(
  id: { provider: string; connection?: string },
  action: 'use' | 'log out' | 'revoke' | 'approve',
): BrokerError {
  const { provider, connection } = id
  if (connection !== undefined) {
    return new BrokerError(
      'ConnectionNotFoundError',
      `Cannot ${action} connection "${connection}" of ${provider}: no such connection`,
      {
        ...id,
        hint: `See \`broker connections\`, or log in: broker login ${provider} --connection ${connection}`,
      },
    )
  }
  const [missing, hint] =
    action === 'revoke'
      ? ['it has no connections', 'See `broker connections`.']
      : [
          'it has no default connection',
          `Log in: broker login ${provider}; or choose a default: broker connections set-default ${provider} <connection>`,
        ]
  return new BrokerError('ConnectionNotFoundError', `Cannot ${action} ${provider}: ${missing}`, { ...id, hint })
}

/** Of the named connection, or of the provider's default. */
export function notUsable(provider: string, connection: string | undefined): BrokerError {
  return notFound(connection === undefined ? { provider } : { provider, connection }, 'use')
}

/** `needs_login`: the provider takes its refresh token no more. `expired`: it has none, and its token has ended. */
export function tokenExpired(
  { provider, connection }: ConnectionId,
  why: 'needs_login' | 'expired',
  option = '',
): BrokerError {
  const reason =
    why === 'expired' ? 'its token has expired, and there is none to refresh it with' : 'it needs a new login'
  return new BrokerError('TokenExpiredError', `Cannot use connection "${connection}" of ${provider}: ${reason}`, {
    provider,
    connection,
    hint: `Log in again: broker login ${provider} --connection ${connection}${option} --force`,
  })
}

export function needsApproval({ provider, connection }: ConnectionId): BrokerError {
  return new BrokerError(
    'OperationNotAllowedError',
    `Cannot use connection "${connection}" of ${provider}: the provider's definition has changed where its credential may go`,
    {
      provider,
      connection,
      hint: `Look at what has changed, and approve it: broker connections approve ${provider} --connection ${connection}`,
    },
  )
}

export function changedAgain({ provider, connection }: ConnectionId): BrokerError {
  return new BrokerError(
    'ConflictError',
    `The definition of ${provider} has changed again: what was looked at is not what would be approved`,
    { provider, connection, hint: `Look again: broker connections approve ${provider}` },
  )
}

export function noDefinition({ provider, connection }: ConnectionId): BrokerError {
  return new BrokerError('NotFoundError', `There is no definition of "${provider}" to approve, or it is broken`, {
    provider,
    connection,
    hint: 'See `broker doctor`; register one: broker provider register <definition.json>',
  })
}

export function nothingToApprove({ provider, connection }: ConnectionId): BrokerError {
  return new BrokerError('NotFoundError', `There is nothing to approve in connection "${connection}" of ${provider}`, {
    provider,
    connection,
    hint: 'Its credential goes where it was allowed to go.',
  })
}

export function isRefreshing({ provider, connection }: ConnectionId): BrokerError {
  return new BrokerError(
    'OperationNotAllowedError',
    `Connection "${connection}" of ${provider} is being refreshed: try again in a moment`,
    { provider, connection, httpStatus: 409 },
  )
}
