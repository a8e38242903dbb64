import { generateKeyPairSync, sign } from 'node:crypto'
import { catalogueFile, catalogueKey, signedBytes } from '../src/daemon/providers/index.ts'

/** A key that signs catalogues, made for one test: no daemon trusts it by itself. */
export function signer() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const pem = String(publicKey.export({ type: 'spki', format: 'pem' }))
  const { id } = catalogueKey(pem)
  const signature = (payload: string) => ({
    key: id,
    signature: sign(null, signedBytes(payload), privateKey).toString('base64url'),
  })
  return { pem, id, signature, privatePem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) }
}

export type Signer = ReturnType<typeof signer>

/** The text of a catalogue file that these have signed. */
export function catalogueText(signers: readonly Signer[], content: Readonly<Record<string, unknown>> = {}): string {
  const whole = { catalogue_version: '2026-12-01.1', made_at: '2026-12-01T00:00:00Z', definitions: [], ...content }
  const payload = Buffer.from(JSON.stringify(whole)).toString('base64url')
  return catalogueFile(
    payload,
    signers.map((one) => one.signature(payload)),
  )
}
