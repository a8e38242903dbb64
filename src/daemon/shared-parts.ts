import { EventEmitter } from 'node:events'
import { type Config, ensureDaemonKey, readDaemonKey, readPrivateFile, writePrivateFile } from '../config/index.ts'
import { generateSigningKey, signingKeyFromPem } from '../identity/index.ts'
import type { Audit } from './audit/index.ts'
import { openSharedRegistry } from './auth-sessions/index.ts'
import { type Deployment, deploymentOfHome, deploymentOfStore } from './deployment/index.ts'
import { type DaemonLog, loggable } from './open-log.ts'
import { definitionFolder, type Providers } from './providers/index.ts'
import type { Rights } from './rights/index.ts'
import { openSharedCache, type SharedCache } from './shared-cache/index.ts'
import type { Store } from './store/index.ts'
import type { Vault } from './vault/index.ts'

/** What several daemons have in common, as far as the settings say that there are several. */
export interface SharedParts {
  readonly deployment: Deployment
  readonly cache: SharedCache | undefined
  /** Where logins are kept; in the memory of this daemon where it says nothing. */
  readonly logins: { readonly registry?: ReturnType<typeof openSharedRegistry> }
  /** Has definitions seen that others have changed, also by what goes on without requests; what ends that. */
  follow(providers: Providers): () => void
  close(): Promise<void>
}

export interface SharedPartsOptions {
  readonly store: Store
  readonly vault: Vault
  readonly audit: Audit
  readonly rights: Rights
  readonly log: DaemonLog['log']
  /** Told the did:key of the daemons as soon as it is known. */
  readonly onOpened: (did: string) => void
}

/** Two catalogue files, as large as they may be. */
const CATALOGUE_BYTES = 20 * 1024 * 1024
const LOOK_EVERY_MS = 10_000

/** Opens them; what cannot be had now is tried again when it is needed. */
export async function openSharedParts(config: Config, options: SharedPartsOptions): Promise<SharedParts> {
  const { store, vault, log } = options
  const news = new EventEmitter<{ told: [] }>()
  const cache = await openCache(config, log, () => news.emit('told'))
  const deployment = await openDeployment(config, options, () => cache?.tell())
  const isShared = store.dialect === 'postgres'
  const registry =
    isShared && cache
      ? openSharedRegistry({ cache, seals: () => vault.outside(), replay: store.replay, now: Date.now })
      : undefined
  return {
    deployment,
    cache,
    logins: registry ? { registry } : {},
    follow(providers) {
      if (!isShared) return () => undefined
      const look = () => {
        providers
          .refresh()
          .catch((error: unknown) => log.warn(loggable(error), 'the definitions could not be looked at'))
      }
      news.on('told', look)
      const timer = setInterval(look, LOOK_EVERY_MS).unref()
      return () => {
        clearInterval(timer)
        news.off('told', look)
      }
    },
    async close() {
      await cache?.close()
    },
  }
}

async function openCache(
  { daemon: { redisUrl: url } }: Config,
  log: DaemonLog['log'],
  onNews: () => void,
): Promise<SharedCache | undefined> {
  return url && openSharedCache({ url, onNews, note: (what) => log.warn(what) })
}

/** In this home where the store is, else in the store. */
async function openDeployment(
  { paths }: Config,
  { rights, log, ...shared }: SharedPartsOptions,
  onChanged: () => void,
): Promise<Deployment> {
  const definitions = definitionFolder(paths.providers)
  const catalogue = {
    read: () => readPrivateFile(paths.catalogue, CATALOGUE_BYTES),
    write: async (text: string) => writePrivateFile(paths.catalogue, text),
  }
  if (shared.store.dialect === 'sqlite') {
    const pem = ensureDaemonKey(paths, () => generateSigningKey().toPem(), await shared.store.isInUse())
    return deploymentOfHome(signingKeyFromPem(pem, 'server/daemon.key'), { definitions, catalogue })
  }
  return deploymentOfStore({
    ...shared,
    sealRights: () => rights.open(),
    home: { key: () => readDaemonKey(paths), definitions: definitions.files, catalogue: catalogue.read },
    onChanged,
    note: (what) => log.warn(what),
  })
}
