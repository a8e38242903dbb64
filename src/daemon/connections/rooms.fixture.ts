import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Actor, Secret } from '../../protocol/index.ts'
import { openAudit } from '../audit/index.ts'
import { definitionFolder, openProviders } from '../providers/index.ts'
import { openStore } from '../store/index.ts'
import { openVault, systemKeyring } from '../vault/index.ts'
import { openOAuthClients } from './oauth-clients.ts'
import { openConnections } from './open-connections.ts'
import { openRefreshes } from './open-refreshes.ts'

const MASTER_KEY = hash('sha256', 'CNRY a key of tests', 'base64')

export interface RoomsOptions {
  readonly folder: string
  readonly now?: () => number
  /** Tells processes on one store apart: each has its own ledger of used proofs. */
  readonly process?: string
  readonly alone?: boolean
}

/** The rooms below connections, on a SQLite store in a folder, with one principal and its vault. */
export async function openRooms({ folder, now = Date.now, process = 'only', alone = true }: RoomsOptions) {
  const replayPath = join(folder, `replay-${process}.db`)
  const store = await openStore({ kind: 'sqlite', path: join(folder, 'broker.db'), replayPath }, { now })
  const masterKey = {
    mode: 'env' as const,
    masterKey: new Secret(MASTER_KEY),
    localKeyPath: '/nowhere',
    createFile: () => undefined,
    keyring: systemKeyring(),
  }
  const anchorFile = { read: () => undefined, write: () => undefined }
  const vault = await openVault({ store, masterKey, anchorFile, now })
  const actor = await onlyActor(store, vault)
  const audit = openAudit(store, { now })
  const providers = openProviders({
    bundledDir: join(folder, 'none'),
    custom: definitionFolder(join(folder, 'providers')),
  })
  const clients = openOAuthClients({ store, vault, providers, now })
  const connections = openConnections({ store, vault, audit, providers, clients, now, random: () => 0 })
  const refreshes = await openRefreshes({ store, vault, audit, alone, now, random: () => 1 })
  return { store, vault, actor, audit, providers, clients, connections, refreshes }
}

export type OpenedRooms = Awaited<ReturnType<typeof openRooms>>

async function onlyActor(
  store: Awaited<ReturnType<typeof openStore>>,
  vault: Awaited<ReturnType<typeof openVault>>,
): Promise<Actor> {
  await store.transaction(async (tx) => {
    if (await tx.selectFrom('principals').selectAll().executeTakeFirst()) return
    const row = { id: 'ada', role: 'admin' as const, vault_id: 'vault', created_at: new Date().toISOString() }
    await tx
      .insertInto('principals')
      .values({ ...row, local_owner: 1, epoch: 0 })
      .execute()
    await vault.create(tx, 'vault')
  })
  return {
    kind: 'identity',
    identity: 'ada',
    identityId: 'id-ada',
    did: 'did:key:z',
    principalId: 'ada',
    vaultId: 'vault',
    role: 'admin',
  }
}

export function temporaryFolder(t: { after(cleanup: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'broker-rooms-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A provider with tokens, whose endpoints are at `origin`. */
export function tokenProvider(origin: string) {
  return {
    schema_version: 1 as const,
    name: 'acme',
    display_name: 'Acme',
    auth_type: 'oauth2' as const,
    flow: 'pkce' as const,
    hosts: ['api.acme.example'],
    oauth: {
      authorization_url: `${origin}/auth`,
      token_url: `${origin}/token`,
      revocation_url: `${origin}/revoke`,
      scopes: ['read'],
      client_id: 'broker-test',
      token_auth_method: 'none' as const,
    },
  }
}
