import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { ConnectionId } from './connection-id.ts'
import type { ConnectionRecords } from './connection-records.ts'
import { deleteRow, namesIn } from './connection-rows.ts'
import type { CheckedConnections } from './connections.ts'
import { recordId } from './credential-record.ts'

export class CheckedConnectionsOfStore implements CheckedConnections {
  readonly #records: ConnectionRecords

  constructor(records: ConnectionRecords) {
    this.#records = records
  }

  async breach(actor: Actor): Promise<string | undefined> {
    if (this.#records.vault.status().kind === 'sealed') return undefined
    try {
      await this.#records.vault.requireWhole(actor.vaultId)
      return undefined
    } catch (error) {
      if (error instanceof BrokerError) return `${error.message}. ${error.options.hint ?? ''}`.trim()
      throw error
    }
  }

  async restore(actor: Actor): Promise<readonly ConnectionId[]> {
    return this.#records.store.vaultTransaction(actor.vaultId, async (tx) => {
      await this.#records.vault.restore(tx, actor.vaultId)
      const { rows, records } = await namesIn(tx, actor.vaultId)
      const sealed = new Set(records.map(({ id }) => id))
      const named = new Set(rows.map(recordId))
      for (const { id } of records.filter(({ id }) => !named.has(id))) {
        await this.#records.vault.remove(tx, { vaultId: actor.vaultId, kind: 'connection', id })
      }
      const lost = rows.filter((row) => !sealed.has(recordId(row)))
      for (const row of lost) await deleteRow(tx, actor, row)
      const reason = `connections lost: ${lost.length}`
      await this.#records.audit.record(tx, actor, { event: 'vault.restored', status: 'success', reason })
      return lost
    })
  }

  async check(vaultId: string): Promise<readonly string[]> {
    const { rows, records } = await this.#records.store.snapshot((tx) => namesIn(tx, vaultId))
    const sealed = new Set(records.map(({ id }) => id))
    const named = new Set(rows.map(recordId))
    const withoutRecord = rows.filter((row) => !sealed.has(recordId(row)))
    const withoutRow = records.filter(({ id }) => !named.has(id))
    return [
      ...withoutRecord.map(
        ({ provider, connection }) => `Connection "${connection}" of ${provider} has no credential.`,
      ),
      ...withoutRow.map(({ id }) => `The credential "${id}" belongs to no connection.`),
    ]
  }
}
