import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { type AssociatedData, open, seal, wiped } from './aead.ts'

/**
 * Keys made from the master key, one for each purpose (HKDF-SHA256, salted by the deployment). The master key itself
 * encrypts nothing.
 */
export interface KeyHierarchy {
  readonly deploymentId: string
  /** Wraps the data keys. */
  readonly wrapping: KeyObject
  /** Seals the manifests, and keys the fingerprints in them. */
  readonly manifest: KeyObject
  readonly fingerprint: KeyObject
  /** Authenticates the anchor file. */
  readonly anchor: KeyObject
  /** Authenticates what browsers are known by. */
  readonly knownBrowser: KeyObject
  /** Signs how far the audit log has come. */
  readonly auditRoots: KeyObject
  /** Name, and seal, what daemons keep for each other outside the store. */
  readonly outsideNames: KeyObject
  readonly outside: KeyObject
}

export function deriveKeys(masterKey: Buffer, deploymentId: string): KeyHierarchy {
  const derive = (purpose: string) =>
    wiped(Buffer.from(hkdfSync('sha256', masterKey, deploymentId, `broker/v1/${purpose}`, 32)), createSecretKey)
  return {
    deploymentId,
    wrapping: derive('wrapping'),
    manifest: derive('manifest'),
    fingerprint: derive('fingerprint'),
    anchor: derive('anchor'),
    knownBrowser: derive('known-browser'),
    auditRoots: derive('audit-roots'),
    outsideNames: derive('outside-names'),
    outside: derive('outside'),
  }
}

/** Tells one master key from another without telling anything of either; kept in the clear, hex. */
export function keyIdOf(masterKey: Buffer): string {
  return createHmac('sha256', masterKey).update('broker/v1/key-id').digest('hex').slice(0, 16)
}

/** A data key: seals the records of one vault, for one term. */
export interface DataKey {
  readonly term: number
  readonly key: KeyObject
}

export function makeDataKey(keys: KeyHierarchy, vaultId: string, term: number): { dataKey: DataKey; wrapped: Buffer } {
  const bytes = randomBytes(32)
  const wrapped = seal(keys.wrapping, bytes, dataKeyContext(keys, vaultId, term))
  return { dataKey: { term, key: wiped(bytes, createSecretKey) }, wrapped }
}

/** Returns a key as it is stored. */
export function wrapDataKey(keys: KeyHierarchy, vaultId: string, { term, key }: DataKey): Buffer {
  return wiped(key.export(), (bytes) => seal(keys.wrapping, bytes, dataKeyContext(keys, vaultId, term)))
}

/** @throws Error where the wrapped key is another vault's or term's, or was changed. */
export function unwrapDataKey(keys: KeyHierarchy, vaultId: string, term: number, wrapped: Uint8Array): DataKey {
  return { term, key: wiped(open(keys.wrapping, wrapped, dataKeyContext(keys, vaultId, term)), createSecretKey) }
}

function dataKeyContext(keys: KeyHierarchy, vaultId: string, term: number): AssociatedData {
  return ['broker/data-key/v1', keys.deploymentId, vaultId, String(term)]
}
