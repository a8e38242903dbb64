/** What an actor may use: a run is bound to what it was started with. */
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { Connection } from '../../schemas/index.ts'

/** Returns whether the actor's run, if one signed, was started for this provider. */
export function mayInject({ run }: Actor, provider: string): boolean {
  return run?.only?.includes(provider) ?? true
}

/** A run uses the connection it was started with: its key must not choose another. */
export function connectionFor({ run }: Actor, provider: string, wanted: string | undefined): string | undefined {
  const granted = run && Object.hasOwn(run.connections, provider) ? run.connections[provider] : undefined
  if (run && wanted !== undefined && wanted !== granted) {
    throw new BrokerError('OperationNotAllowedError', `This run was not started with connection "${wanted}"`, {
      provider,
      connection: wanted,
    })
  }
  return granted ?? wanted
}

/**
 * Returns whether requests that name no connection may use this one: the run was started with it, it is the default, or its address
 * says which requests are for it.
 */
export function mayBeUsed(actor: Actor, { provider, connection, is_default, base_url }: Connection): boolean {
  const granted = connectionFor(actor, provider, undefined)
  return granted === undefined ? is_default || base_url !== undefined : connection === granted
}
