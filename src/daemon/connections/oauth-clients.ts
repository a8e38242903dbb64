import { hash } from 'node:crypto'
import { type Actor, BrokerError, Secret } from '../../protocol/index.ts'
import { definitionAt, isOwnServer, isPartOf, type Provider, type Providers } from '../providers/index.ts'
import type { Db, Store } from '../store/index.ts'
import type { RecordRef, Vault } from '../vault/index.ts'
import { destinationOf } from './destination.ts'

/** Who a vault is to a provider: the user's own app, or a client that the provider registered for it. */
interface OAuthClientRecord {
  readonly id: string
  readonly secret?: Secret
  readonly auth: 'none' | 'client_secret_post' | 'client_secret_basic'
}

/** Made by a provider for one issuer and one redirect URI, and good for no other. */
interface RegisteredClientRecord extends OAuthClientRecord {
  readonly issuer: string
  readonly redirectUri: string
  /** Milliseconds since 1970; absent where the secret does not end. */
  readonly secretExpiresAt?: number
}

/** A client that a login found out, to be kept with what it brought. */
export type KeptClient =
  | { readonly kind: 'own'; readonly client: OAuthClientRecord }
  | { readonly kind: 'registered'; readonly client: RegisteredClientRecord }

type ForgottenClient =
  | { readonly kind: 'own'; readonly baseUrl?: string }
  /** By its client id. */
  | { readonly kind: 'registered'; readonly id: string }

/** The OAuth clients of a vault: one own app for a provider, or a tenant of it, and one registration for a redirect URI. */
export interface OAuthClients {
  /** The user's own app. Undefined where there is none, or where the definition has changed where its secret would go. */
  own(actor: Actor, provider: Provider, baseUrl?: string): Promise<OAuthClientRecord | undefined>
  /** The user's own app of the provider that this one is a part of: it is good here, too. */
  ofFamily(actor: Actor, provider: Provider): Promise<OAuthClientRecord | undefined>
  /** The user's own app of this client id, also one whose place another has taken: earlier connections go on with it. */
  ownById(actor: Actor, provider: Provider, id: string, baseUrl?: string): Promise<OAuthClientRecord | undefined>
  /** Undefined where there is none, where it was made by another issuer, and where its secret has ended. */
  registered(
    actor: Actor,
    provider: Provider,
    at: { readonly issuer: string; readonly redirectUri: string },
  ): Promise<RegisteredClientRecord | undefined>
  /** Within the transaction that stores the login. An own app serves the provider that this one is a part of from then on, too. */
  keep(tx: Db, actor: Actor, provider: Provider, kept: KeptClient, baseUrl?: string): Promise<void>
  /** Forgets one that the provider does not know any more. */
  forget(actor: Actor, provider: Provider, which: ForgottenClient): Promise<void>
  /** Forgets all clients of a provider. How many there were. */
  forgetAll(tx: Db, actor: Actor, provider: string): Promise<number>
}

export interface OAuthClientsOptions {
  readonly store: Store
  readonly vault: Vault
  readonly providers: Pick<Providers, 'find'>
  readonly now?: () => number
}

export function openOAuthClients({ store, vault, providers, now = Date.now }: OAuthClientsOptions): OAuthClients {
  const read = async (ref: RecordRef, provider: Provider, { baseUrl, db = store.db }: ReadFrom = {}) => {
    try {
      const record = await vault.get(db, ref, shownAt(provider, baseUrl))
      return record && parse(record.plaintext)
    } catch (error) {
      // Bound to another definition of the provider: it must not be sent where this one says.
      if (error instanceof BrokerError && error.name === 'CredentialMissingError') return undefined
      throw error
    }
  }
  const wholeOf = ({ definition }: Provider) => {
    const whole = definition.part_of === undefined ? undefined : providers.find(definition.part_of)
    return whole && isPartOf(definition, whole.definition) ? whole : undefined
  }
  const putOwn = async (tx: Db, actor: Actor, provider: Provider, client: OAuthClientRecord, baseUrl?: string) => {
    const destination = shownAt(provider, baseUrl)
    const put = (ref: RecordRef, one: OAuthClientRecord) => vault.put(tx, ref, destination, serialize(one))
    const ref = ownRef(actor, provider, baseUrl)
    const before = await read(ref, provider, { ...at(baseUrl), db: tx })
    if (before && before.id !== client.id) await put(earlierRef(ref, before.id), before)
    await put(ref, client)
  }
  return {
    own: (actor, provider, baseUrl) => read(ownRef(actor, provider, baseUrl), provider, at(baseUrl)),
    async ofFamily(actor, provider) {
      const whole = wholeOf(provider)
      return whole && read(ownRef(actor, whole), whole)
    },
    async ownById(actor, provider, id, baseUrl) {
      const ref = ownRef(actor, provider, baseUrl)
      const current = await read(ref, provider, at(baseUrl))
      const found = current?.id === id ? current : await read(earlierRef(ref, id), provider, at(baseUrl))
      return found?.id === id ? found : undefined
    },
    async registered(actor, provider, { issuer, redirectUri }) {
      const client = await read(registeredRef(actor, provider, redirectUri), provider)
      if (!client || client.issuer !== issuer || client.redirectUri !== redirectUri) return undefined
      if (client.secretExpiresAt !== undefined && client.secretExpiresAt <= now()) return undefined
      return { ...client, issuer, redirectUri }
    },
    async keep(tx, actor, provider, kept, baseUrl) {
      if (kept.kind === 'registered') {
        const ref = registeredRef(actor, provider, kept.client.redirectUri)
        await vault.put(tx, ref, shownAt(provider, undefined), serialize(kept.client))
        return
      }
      await putOwn(tx, actor, provider, kept.client, baseUrl)
      const whole = baseUrl === undefined ? wholeOf(provider) : undefined
      if (whole) await putOwn(tx, actor, whole, kept.client)
    },
    async forget(actor, provider, which) {
      if (which.kind === 'own') {
        const whole = which.baseUrl === undefined ? wholeOf(provider) : undefined
        const holders = [provider, ...(whole ? [whole] : [])]
        await store.vaultTransaction(actor.vaultId, async (tx) => {
          for (const holder of holders) await vault.remove(tx, ownRef(actor, holder, which.baseUrl))
        })
        return
      }
      for (const ref of await refsOf(store.db, actor, `${provider.definition.name}/registered/`)) {
        const client = await read(ref, provider)
        if (client?.id === which.id) await store.vaultTransaction(actor.vaultId, (tx) => vault.remove(tx, ref))
      }
    },
    async forgetAll(tx, actor, provider) {
      const refs = await refsOf(tx, actor, `${provider}/`)
      for (const ref of refs) await vault.remove(tx, ref)
      return refs.length
    },
  }
}

async function refsOf(db: Db, { vaultId }: Actor, prefix: string): Promise<readonly RecordRef[]> {
  const rows = await db
    .selectFrom('records')
    .select('id')
    .where('vault_id', '=', vaultId)
    .where('kind', '=', 'client')
    .execute()
  return rows.flatMap(({ id }) => (id.startsWith(prefix) ? [{ vaultId, kind: 'client' as const, id }] : []))
}

interface ReadFrom {
  readonly baseUrl?: string
  readonly db?: Db
}

function at(baseUrl: string | undefined): ReadFrom {
  return baseUrl === undefined ? {} : { baseUrl }
}

/** Returns what the secret of an app is bound to: the endpoints that see it, which at a server of the user's own are that server's. */
function shownAt({ definition }: Provider, baseUrl: string | undefined): string {
  const isOwn = baseUrl !== undefined && isOwnServer(definition, baseUrl)
  return isOwn
    ? destinationOf(definitionAt(definition, baseUrl), 'oauth2', baseUrl)
    : destinationOf(definition, 'oauth2', undefined)
}

function ownRef({ vaultId }: Actor, { definition }: Provider, baseUrl = ''): RecordRef {
  const isOwn = baseUrl !== '' && isOwnServer(definition, baseUrl)
  const tenant = isOwn || hasTenantEndpoints(definition) ? baseUrl : ''
  return { vaultId, kind: 'client', id: `${definition.name}/own/${shortHash(tenant)}` }
}

/** Returns where an app is kept when another takes its place. */
function earlierRef(own: RecordRef, id: string): RecordRef {
  return { ...own, id: `${own.id}/${shortHash(id)}` }
}

/** Then an app is one tenant's; else it is the provider's, wherever the API of a connection is. */
function hasTenantEndpoints({ oauth }: Provider['definition']): boolean {
  return [oauth?.issuer, oauth?.authorization_url, oauth?.token_url].some((url) => url?.startsWith('{base_url}'))
}

function registeredRef({ vaultId }: Actor, { definition }: Provider, redirectUri: string): RecordRef {
  return { vaultId, kind: 'client', id: `${definition.name}/registered/${shortHash(redirectUri)}` }
}

function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 16)
}

type Stored = OAuthClientRecord & Partial<RegisteredClientRecord>

function serialize({ secret, ...rest }: Stored): Secret {
  return new Secret(JSON.stringify({ ...rest, ...(secret && { secret: secret.reveal() }) }))
}

function parse(sealed: Secret): Stored {
  const { secret, ...rest } = JSON.parse(sealed.reveal()) as Omit<Stored, 'secret'> & { secret?: string }
  return { ...rest, ...(secret !== undefined && { secret: new Secret(secret) }) }
}
