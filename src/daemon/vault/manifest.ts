import { createHash, createHmac } from 'node:crypto'
import type { RecordRow } from '../store/index.ts'
import { open, seal } from './aead.ts'
import type { KeyHierarchy } from './key-hierarchy.ts'

/**
 * What a vault holds, in 32 bytes: the exclusive or of one keyed fingerprint for each record. A record that is
 * missing, added, or older than the last change does not fit. One step for each change, however many records there are.
 * It is kept sealed: whoever could see its values before and after changes could compute with them.
 */
export interface Manifest {
  readonly count: number
  /** 32 bytes, hex. */
  readonly fingerprint: string
  /** Set since the rows that say who is who are sealed too: a store without their key is not one from before. */
  readonly rights?: true
}

const EMPTY: Manifest = { count: 0, fingerprint: '00'.repeat(32), rights: true }

export type Fingerprinted = Pick<RecordRow, 'kind' | 'id' | 'version' | 'sealed'>

export function emptyManifest(): Manifest {
  return EMPTY
}

export function withRecord(keys: KeyHierarchy, manifest: Manifest, record: Fingerprinted): Manifest {
  return { ...manifest, count: manifest.count + 1, fingerprint: mixed(keys, manifest, record) }
}

export function withoutRecord(keys: KeyHierarchy, manifest: Manifest, record: Fingerprinted): Manifest {
  return { ...manifest, count: manifest.count - 1, fingerprint: mixed(keys, manifest, record) }
}

function mixed(keys: KeyHierarchy, manifest: Manifest, { kind, id, version, sealed }: Fingerprinted): string {
  const content = createHash('sha256').update(sealed).digest('hex')
  const print = createHmac('sha256', keys.fingerprint)
    .update(JSON.stringify([kind, id, version, content]))
    .digest()
  const before = Buffer.from(manifest.fingerprint, 'hex')
  return Buffer.from(before.map((byte, at) => byte ^ (print[at] ?? 0))).toString('hex')
}

/** @param content a vault's manifest, or another list that is kept like one under a name of its own */
export function sealManifest(keys: KeyHierarchy, vaultId: string, generation: number, content: object): Buffer {
  return seal(keys.manifest, Buffer.from(JSON.stringify(content)), context(keys, vaultId, generation))
}

/** @throws Error where it is another vault's or generation's, or was changed. */
export function openManifest<Content = Manifest>(
  keys: KeyHierarchy,
  vaultId: string,
  generation: number,
  sealed: Uint8Array,
): Content {
  return JSON.parse(open(keys.manifest, sealed, context(keys, vaultId, generation)).toString()) as Content
}

function context(keys: KeyHierarchy, vaultId: string, generation: number): readonly string[] {
  return ['broker/manifest/v1', keys.deploymentId, vaultId, String(generation)]
}
