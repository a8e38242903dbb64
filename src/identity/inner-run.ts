import { type SigningKey, verifySignature } from './signing-key.ts'

/** A run that is started within another one. */
interface InnerRun {
  /** Id of the outer run. */
  readonly within: string
  /** did:key of the inner one, which is used for no other run. */
  readonly did: string
}

/** Says with the outer run's key that a run is started within it. It allows nothing by itself. @returns base64url */
export function signInnerRun(outer: SigningKey, run: InnerRun): string {
  return outer.sign(statementOf(run)).toString('base64url')
}

/** Returns whether the outer run's key, by its did:key, has said so. False for every malformed input. */
export function verifyInnerRun(outer: string, run: InnerRun, signature: string): boolean {
  return verifySignature(outer, statementOf(run), Buffer.from(signature, 'base64url'))
}

// Nothing else that such a key signs has a space: proofs are base64url.
function statementOf({ within, did }: InnerRun): Buffer {
  return Buffer.from(`broker run ${did} within ${within}`)
}
