import { chmodSync, existsSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { BrokerError } from '../protocol/index.ts'
import { isForeign } from './file-owner.ts'
import { codeOf, syncFolder } from './private-file.ts'

/** Where everything of one home is (contract section 2). */
export interface HomePaths {
  readonly home: string
  readonly identities: string
  readonly client: string
  readonly clientConfig: string
  readonly clientLog: string
  /** Sockets of runs. */
  readonly runs: string
  readonly providers: string
  /** Signed catalogue files in use. */
  readonly catalogue: string
  readonly server: string
  readonly serverConfig: string
  readonly database: string
  readonly replayLedger: string
  /** Of releases, until they are in the log. */
  readonly journal: string
  readonly masterKey: string
  readonly bootstrapSecret: string
  readonly operatorSecret: string
  readonly daemonInfo: string
  readonly daemonKey: string
  readonly daemonLock: string
  readonly vaultAnchor: string
  readonly daemonLog: string
}

export function homePaths(home: string): HomePaths {
  const server = join(home, 'server')
  const client = join(home, 'client')
  return {
    home,
    identities: join(home, 'identities'),
    client,
    clientConfig: join(client, 'config.json'),
    clientLog: join(client, 'logs', 'broker.log'),
    runs: join(client, 'runs'),
    providers: join(home, 'providers'),
    catalogue: join(server, 'catalogue.json'),
    server,
    serverConfig: join(server, 'config.json'),
    database: join(server, 'broker.db'),
    replayLedger: join(server, 'replay.db'),
    journal: join(server, 'journal'),
    masterKey: join(server, 'master.key'),
    bootstrapSecret: join(server, 'bootstrap.secret'),
    operatorSecret: join(server, 'operator.secret'),
    daemonInfo: join(server, 'daemon.json'),
    daemonKey: join(server, 'daemon.key'),
    daemonLock: join(server, 'daemon.lock'),
    vaultAnchor: join(server, 'vault-anchor.json'),
    daemonLog: join(server, 'logs', 'daemon.log'),
  }
}

/** The user's home folder; empty where nobody knows it: no HOME, and a user without a name. */
export function userFolder(): string {
  try {
    return homedir()
  } catch {
    return ''
  }
}

/**
 * Sees that the home can be this user's, before anything is read there. It need not be there yet.
 * @throws BrokerError OperationNotAllowedError
 */
export function refuseForeignHome(home: string): void {
  const stat = statOf(home)
  if (stat === undefined && dirname(home) === userFolder() && statOf(dirname(home)) === undefined) {
    throw refusedFolder(home, 'HOME names a folder that does not exist')
  }
  if (stat === undefined || !isForeign(stat)) return
  throw new BrokerError('OperationNotAllowedError', `The home "${home}" belongs to another user (uid ${stat.uid})`, {
    hint: 'Call broker as that user, without sudo; or use a home of your own: BROKER_HOME=<folder> broker …',
  })
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    throw refusedFolder(path, `it cannot be looked at (${codeOf(cause)})`, cause)
  }
}

/**
 * Makes the home for its owner alone, or makes sure that nobody else may write there. It may be a link to where there is
 * room; what counts is where that leads.
 * @throws BrokerError OperationNotAllowedError where it is somebody else's, or no folder.
 */
export function privateFolder(path: string): string {
  return settled(path, statSync)
}

/** The same for a folder within the home, which is no link. */
export function folderOfHome(path: string): string {
  return settled(path, lstatSync)
}

/** @throws BrokerError OperationNotAllowedError where a folder of the home is there and is a link, or something else. */
export function refuseOtherThanFolder(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat && !stat.isDirectory()) throw refusedFolder(path, NO_FOLDER)
}

const NO_FOLDER = 'it is a link, or no folder'

function settled(path: string, look: (path: string) => Stats): string {
  make(path)
  const stat = look(path)
  if (!stat.isDirectory()) throw refusedFolder(path, NO_FOLDER)
  if (isForeign(stat)) throw refusedFolder(path, 'it belongs to another user')
  if ((stat.mode & 0o077) !== 0) tighten(path)
  return path
}

function make(path: string): void {
  try {
    const made = makeFolders(path, 0o700)
    if (made !== undefined) keepNames(path, made)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw refusedFolder(path, NO_FOLDER)
    throw refusedFolder(path, `it cannot be made (${codeOf(cause)})`, cause)
  }
}

/**
 * The first folder that had to be made. Not `recursive`: that never ends where a folder cannot be made though the one above
 * is there, as below /proc.
 */
export function makeFolders(path: string, mode?: number): string | undefined {
  const above = dirname(path)
  const first = existsSync(above) ? undefined : makeFolders(above, mode)
  try {
    mkdirSync(path, { mode })
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return first
    throw cause
  }
  return first ?? path
}

/** Makes durable that the folders are there, from the last one made up to the first. */
function keepNames(last: string, first: string): void {
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) {
    try {
      syncFolder(dirname(folder))
    } catch {
      // The folder above may not be ours to read.
    }
  }
}

function tighten(path: string): void {
  try {
    chmodSync(path, 0o700)
  } catch (cause) {
    throw refusedFolder(path, `others may enter it, and its mode cannot be changed (${codeOf(cause)})`)
  }
}

function refusedFolder(path: string, why: string, cause?: unknown): BrokerError {
  return new BrokerError('OperationNotAllowedError', `Cannot use the folder "${path}": ${why}`, {
    cause,
    hint: 'Mend it, or use another home: BROKER_HOME=<folder> broker …',
  })
}
