import { CheckedConnectionsOfStore } from './checked-connections.ts'
import { ConnectionRecords, type ConnectionsOptions } from './connection-records.ts'
import type { Connections } from './connections.ts'
import { ListedConnectionsOfStore } from './listed-connections.ts'
import { LoginConnectionsOfStore } from './login-connections.ts'
import { ManagedConnectionsOfStore } from './managed-connections.ts'
import { ServingConnectionsOfStore } from './serving-connections.ts'

export function openConnections(options: ConnectionsOptions): Connections {
  const records = new ConnectionRecords(options)
  const listed = new ListedConnectionsOfStore(records)
  const serving = new ServingConnectionsOfStore(records)
  const logins = new LoginConnectionsOfStore(records)
  const managed = new ManagedConnectionsOfStore(records)
  const checked = new CheckedConnectionsOfStore(records)
  return {
    list: listed.list.bind(listed),
    orphaned: listed.orphaned.bind(listed),
    counts: listed.counts.bind(listed),
    exists: listed.exists.bind(listed),
    addresses: listed.addresses.bind(listed),
    ofProvider: listed.ofProvider.bind(listed),
    use: serving.use.bind(serving),
    find: serving.find.bind(serving),
    dueForRefresh: serving.dueForRefresh.bind(serving),
    tokenIssued: serving.tokenIssued.bind(serving),
    put: logins.put.bind(logins),
    inspect: managed.inspect.bind(managed),
    reveal: managed.reveal.bind(managed),
    holds: managed.holds.bind(managed),
    approval: managed.approval.bind(managed),
    approve: managed.approve.bind(managed),
    setDefault: managed.setDefault.bind(managed),
    logout: managed.logout.bind(managed),
    revoke: managed.revoke.bind(managed),
    removeAll: managed.removeAll.bind(managed),
    breach: checked.breach.bind(checked),
    restore: checked.restore.bind(checked),
    check: checked.check.bind(checked),
  }
}
