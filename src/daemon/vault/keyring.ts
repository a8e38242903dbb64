import { randomUUID } from 'node:crypto'
import { Secret } from '../../protocol/index.ts'

/** The operating system's keyring, by item name. Every call may fail: locked, no session, no service. */
export interface Keyring {
  readonly description: string
  get(item: string): Promise<Secret | undefined>
  set(item: string, value: Secret): Promise<void>
  remove(item: string): Promise<void>
}

const SERVICE = 'broker'
/** A locked keyring asks its user; an unattended daemon must not wait for that for ever. */
const PATIENCE_MS = 10_000

/** Keychain on macOS, Credential Manager on Windows, the Secret Service on Linux. */
export function systemKeyring(platform: NodeJS.Platform = process.platform): Keyring {
  return {
    description: descriptions[platform] ?? 'OS keyring',
    async get(item) {
      const text = await (await entry(item)).getPassword(AbortSignal.timeout(PATIENCE_MS))
      return text === null ? undefined : new Secret(text)
    },
    async set(item, value) {
      await (await entry(item)).setPassword(value.reveal(), AbortSignal.timeout(PATIENCE_MS))
    },
    async remove(item) {
      await (await entry(item)).deletePassword(AbortSignal.timeout(PATIENCE_MS))
    },
  }
}

const descriptions: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'macOS Keychain',
  win32: 'Windows Credential Manager',
  linux: 'Secret Service (OS keyring)',
}

async function entry(item: string) {
  const { AsyncEntry } = await import('@napi-rs/keyring')
  // Its Linux default falls back to the kernel's keyring, which is empty after a reboot.
  return new AsyncEntry(SERVICE, item, { linux: { store: 'secret-service' } })
}

export function readKeyringKey(keyring: Keyring, deploymentId: string): Promise<Secret | undefined> {
  return keyring.get(itemName(deploymentId))
}

/** Stores a key once a throw-away item has shown that this keyring gives back what it was given. */
export async function storeKeyringKey(keyring: Keyring, deploymentId: string, key: Buffer): Promise<void> {
  await probe(keyring)
  await keyring.set(itemName(deploymentId), new Secret(key.toString('base64')))
}

export function removeKeyringKey(keyring: Keyring, deploymentId: string): Promise<void> {
  return keyring.remove(itemName(deploymentId))
}

async function probe(keyring: Keyring): Promise<void> {
  const item = `probe-${randomUUID()}`
  const value = new Secret(item)
  await keyring.set(item, value)
  const kept = await keyring.get(item)
  await keyring.remove(item)
  if (!value.equals(kept)) throw new Error('The keyring does not give back what it was given')
}

function itemName(deploymentId: string): string {
  return `master-key-${deploymentId}`
}
