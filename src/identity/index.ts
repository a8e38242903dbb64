/**
 * Who acts: Ed25519 keys, their did:key names, and proof of possession, minted by the client and verified by the daemon
 * (contract section 4). Must never touch the disk, the network or the clock: keys, requests and times come in as values.
 */
export { claimCode } from './claim-code.ts'
export { didOf } from './did-key.ts'
export { signInnerRun, verifyInnerRun } from './inner-run.ts'
export { mintProof } from './mint-proof.ts'
export { generateSigningKey, type SigningKey, signingKeyFromPem, verifySignature } from './signing-key.ts'
export { type Proof, verifyProof } from './verify-proof.ts'
