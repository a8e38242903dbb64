import type { Actor, AuthType } from '../../protocol/index.ts'
import type { CredentialKind } from '../providers/index.ts'
import type { ConnectionRecords } from './connection-records.ts'
import { findRow, forgetRefreshes, insertRow, updateRow } from './connection-rows.ts'
import type { LoginConnections, NewConnection } from './connections.ts'
import { recordOf, serialize } from './credential-record.ts'
import { boundTo } from './destination.ts'
import { expiryColumns } from './freshness.ts'
import { connectionExists } from './refusals.ts'

export class LoginConnectionsOfStore implements LoginConnections {
  readonly #records: ConnectionRecords

  constructor(records: ConnectionRecords) {
    this.#records = records
  }

  async put(actor: Actor, wanted: NewConnection): Promise<void> {
    const { definition } = wanted.provider
    const id = { provider: definition.name, connection: wanted.connection }
    await this.#records.store.vaultTransaction(actor.vaultId, async (tx) => {
      // Removed while somebody was logging in.
      this.#records.providers.get(id.provider)
      const before = await findRow(tx, actor, id)
      if (before && wanted.existing === 'refuse') throw connectionExists(id)
      const { kind } = wanted.credential
      const bound = boundTo(definition, kind, wanted.baseUrl)
      await this.#records.vault.put(tx, recordOf(actor, id), bound.destination, serialize(wanted.credential))
      const given = {
        auth_type: authTypeOf(kind),
        flow: wanted.flow,
        base_url: wanted.baseUrl ?? null,
        scopes: JSON.stringify(wanted.scopes),
        account: wanted.account ? JSON.stringify(wanted.account) : null,
        ...bound,
        updated_at: this.#records.timestamp(),
        problem: null,
        problem_reason: null,
        ...this.#expiry(wanted),
      }
      // What was known of refreshes was about the credential before. All else of a connection stays at its next login.
      await forgetRefreshes(tx, actor, id)
      if (before) await updateRow(tx, actor, id, given)
      else await insertRow(tx, actor, id, { ...given, created_at: given.updated_at })
      if (wanted.client) await this.#records.clients.keep(tx, actor, wanted.provider, wanted.client, wanted.baseUrl)
      await this.#records.audit.record(tx, actor, { event: 'provider.login', status: 'success', ...id })
      if (wanted.source === 'onboard') {
        await this.#records.audit.record(tx, actor, { event: 'onboard.imported', status: 'success', ...id })
      }
    })
  }

  #expiry({ credential, expiresAt }: NewConnection) {
    const refreshable = credential.kind === 'oauth2' && 'refresh_token' in credential.fields
    return {
      refreshable: refreshable ? 1 : 0,
      ...expiryColumns(expiresAt, { refreshable, now: this.#records.now(), random: this.#records.random() }),
    }
  }
}

/** Returns what its requests carry. */
function authTypeOf(kind: CredentialKind): AuthType {
  return kind === 'oauth2' || kind === 'client_credentials' ? 'oauth2' : 'api_key'
}
