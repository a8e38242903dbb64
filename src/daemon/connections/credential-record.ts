import { type Actor, Secret } from '../../protocol/index.ts'
import type { RecordRef } from '../vault/index.ts'
import type { ConnectionId } from './connection-id.ts'

/** Values by field name. */
export type Credential = Readonly<Record<string, Secret>>

export function recordOf(actor: Actor, id: ConnectionId): RecordRef {
  return { vaultId: actor.vaultId, kind: 'connection', id: recordId(id) }
}

// Neither name can hold a slash.
export function recordId({ provider, connection }: ConnectionId): string {
  return `${provider}/${connection}`
}

export function serialize(credential: Credential): Secret {
  return new Secret(JSON.stringify(mapValues(credential, (value) => value.reveal())))
}

export function parseCredential(sealed: Secret): Credential {
  return mapValues(JSON.parse(sealed.reveal()) as Record<string, string>, (value) => new Secret(value))
}

export function mapValues<In, Out>(entries: Readonly<Record<string, In>>, change: (value: In, name: string) => Out) {
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, change(value, name)]))
}

export function sameText(one: Secret | undefined, other: Secret | undefined): boolean {
  return one?.equals(other) === true
}
