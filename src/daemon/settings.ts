import {
  type Config,
  createPrivateFile,
  movePrivateFile,
  readDaemonInfo,
  removePrivateFile,
  writePrivateFile,
} from '../config/index.ts'
import { Secret } from '../protocol/index.ts'
import { lockHome, type StoreLocation } from './store/index.ts'
import { type MasterKeySettings, systemKeyring } from './vault/index.ts'

/** Where the settings say that the store is. */
export function storeLocation({ daemon, paths }: Config): StoreLocation {
  return daemon.databaseUrl
    ? { kind: 'postgres', url: daemon.databaseUrl, pools: daemon.databasePools ?? {} }
    : homeStore({ paths })
}

/** The store that is in the home itself. */
export function homeStore({ paths }: Pick<Config, 'paths'>): Extract<StoreLocation, { readonly kind: 'sqlite' }> {
  return { kind: 'sqlite', path: paths.database, replayPath: paths.replayLedger }
}

/** Keeps daemons of the home from starting. @throws BrokerError DaemonUnavailableError while one runs */
export function homeLock({ paths }: Pick<Config, 'paths'>): ReturnType<typeof lockHome> {
  return lockHome(paths.daemonLock, () => {
    const info = readDaemonInfo(paths)
    return info ? `process ${info.pid}, port ${info.port}, since ${info.started_at}` : 'it is starting or stopping'
  })
}

/** Where the settings say that the master key is. */
export function masterKeySettings({ daemon, paths, environment }: Config): MasterKeySettings {
  const { encryptionMode: mode, masterKeyFile, passphraseFile, masterKeyCommand: command } = daemon
  daemon.masterKey?.forget()
  return {
    mode,
    localKeyPath: paths.masterKey,
    createFile: createPrivateFile,
    files: { replace: writePrivateFile, move: movePrivateFile, remove: removePrivateFile },
    keyring: systemKeyring(),
    // Read anew each time it is wanted: the vault forgets it as soon as it is open.
    get masterKey() {
      const text = environment['BROKER_MASTER_KEY']
      return text ? new Secret(text) : undefined
    },
    ...(masterKeyFile !== undefined && { masterKeyFile }),
    ...(passphraseFile !== undefined && { passphraseFile }),
    ...(command && { command }),
  }
}
