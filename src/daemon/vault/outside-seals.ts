import { createHmac } from 'node:crypto'
import { Secret } from '../../protocol/index.ts'
import { open, seal, wiped } from './aead.ts'
import type { KeyHierarchy } from './key-hierarchy.ts'

/** For what daemons of one deployment keep for each other where others may look and write. */
export interface OutsideSeals {
  /** A name by which they find it, and which tells nobody what it is. */
  name(text: string): string
  /** @param about what it is, in which version: it opens as nothing else */
  seal(about: string, text: Secret): Buffer
  /** Undefined where it is not what was sealed as that. */
  open(about: string, sealed: Uint8Array): Secret | undefined
}

export function outsideSeals(keys: KeyHierarchy): OutsideSeals {
  const associated = (about: string) => ['broker/outside/v1', keys.deploymentId, about]
  return {
    name: (text) => createHmac('sha256', keys.outsideNames).update(text).digest('base64url'),
    seal: (about, text) => wiped(Buffer.from(text.reveal()), (bytes) => seal(keys.outside, bytes, associated(about))),
    open(about, sealed) {
      try {
        return new Secret(wiped(open(keys.outside, sealed, associated(about)), String))
      } catch {
        return undefined
      }
    },
  }
}
