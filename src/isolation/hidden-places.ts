import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** What is Broker's and none of a command's business. */
export interface HiddenPlaces {
  /** Broker's home. */
  readonly home: string
  /** What a command sees in place of the home: a folder of its run, which it may read. */
  readonly instead: string
  /** A file of the master key outside of the home. */
  readonly keyFile?: string | undefined
  /** Sockets by which the system's keyring is reached, where the master key is there. */
  readonly keyring?: readonly string[]
}

/** The options of bubblewrap that put them out of sight. What is not there need not be hidden. */
export function hiddenArguments({ home, instead, keyFile, keyring = [] }: HiddenPlaces): readonly string[] {
  const files = [keyFile, ...keyring].filter((path) => path !== undefined && existsSync(path)) as readonly string[]
  return [
    ...['--ro-bind', instead, realpathSync(home)],
    // Nothing opens a device there, and nobody listens on it.
    ...files.flatMap((path) => ['--ro-bind', '/dev/null', realpathSync(path)]),
  ]
}

/**
 * Sockets that lead to the keyring of this user: the session bus, and the ways to have another process of the user started
 * that would ask there. A bus with an abstract address has no place that could be hidden.
 */
export function keyringSockets(
  environment: Readonly<Record<string, string | undefined>>,
  uid: number,
): readonly string[] {
  const { DBUS_SESSION_BUS_ADDRESS: address = '', XDG_RUNTIME_DIR: runtime = `/run/user/${uid}` } = environment
  const named = [...address.matchAll(/unix:path=([^,;]+)/g)].map(([, path = '']) => decodeURIComponent(path))
  const inRuntime = ['bus', 'systemd/private', 'keyring/control', 'dbus-1/session'].map((name) => join(runtime, name))
  return [...new Set([...named, ...inRuntime])].filter((path) => isAbsolute(path) && existsSync(path))
}
