/**
 * Puts many connections into a home whose daemon is stopped, through the daemon's own rooms: what is stored is what as
 * many logins would have stored. Prints which there are, as JSON.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { createPrivateFile, loadConfig, readPrivateFile, writePrivateFile } from '../src/config/index.ts'
import { openAudit } from '../src/daemon/audit/index.ts'
import { openConnections, openOAuthClients } from '../src/daemon/connections/index.ts'
import { credentialFields, definitionFolder, openProviders } from '../src/daemon/providers/index.ts'
import { openStore } from '../src/daemon/store/index.ts'
import { openVault, systemKeyring } from '../src/daemon/vault/index.ts'
import { type Actor, Secret } from '../src/protocol/index.ts'

/** A connection that can be resolved. */
export interface Stored {
  readonly host: string
  readonly provider: string
  readonly connection: string
}

const count = Number(process.argv[2])
const { paths } = loadConfig(process.env, '/nowhere')
const store = await openStore({ kind: 'sqlite', path: paths.database, replayPath: paths.replayLedger })
// Nothing is lost with a home that is thrown away, and 10,000 flushes to the disk would take minutes.
await sql`pragma synchronous = off`.execute(store.db)
const vault = await openVault({
  store,
  masterKey: {
    mode: 'local_key',
    localKeyPath: paths.masterKey,
    createFile: createPrivateFile,
    keyring: systemKeyring(),
  },
  anchorFile: {
    read: () => readPrivateFile(paths.vaultAnchor),
    write: (text) => writePrivateFile(paths.vaultAnchor, text),
  },
})
const audit = openAudit(store)
const bundledDir = new URL('../providers', import.meta.url).pathname
const providers = openProviders({ bundledDir, custom: definitionFolder(paths.providers) })
const connections = openConnections({
  store,
  vault,
  audit,
  providers,
  clients: openOAuthClients({ store, vault, providers }),
})
const actor = await onlyActor()
const places = providers.list().flatMap((provider) => {
  const fixed = provider.hosts.find(
    ({ hostPattern, pathPrefix }) => !hostPattern.includes('*') && pathPrefix === undefined,
  )
  const fields = credentialFields(provider.definition).map(({ name }) => name)
  return fixed?.port === 443 && fields.join() === 'api_key' ? [{ provider, host: fixed.hostPattern }] : []
})

const stored: Stored[] = []
while (stored.length < count) {
  for (const { provider, host } of places.slice(0, count - stored.length)) {
    const id = { provider: provider.definition.name, connection: `c${stored.length}` }
    const api_key = new Secret(`CNRY${randomBytes(24).toString('hex')}`)
    await connections.put(actor, {
      provider,
      connection: id.connection,
      flow: 'api_key',
      credential: { kind: 'api_key', fields: { api_key } },
      scopes: [],
      existing: 'refuse',
      source: 'login',
    })
    stored.push({ host, ...id })
  }
}
await vault.anchorChanges()
await store.close()
process.stdout.write(JSON.stringify(stored))

async function onlyActor(): Promise<Actor> {
  const row = await store.db
    .selectFrom('identities')
    .innerJoin('principals', 'principals.id', 'identities.principal_id')
    .selectAll()
    .select('identities.id as identity_id')
    .executeTakeFirstOrThrow()
  const identityId = row.identity_id
  return {
    kind: 'identity',
    identity: row.handle,
    identityId,
    did: row.did,
    principalId: row.id,
    vaultId: row.vault_id,
    role: row.role,
  }
}
