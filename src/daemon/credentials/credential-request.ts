import { type Authority, authority, HTTPS_PORT } from '../../network/index.ts'
import type { ResolveRequest } from '../../schemas/index.ts'

/** A request for a credential, its host and port in the one spelling that all of this room compares. */
export type CredentialRequest = ResolveRequest & Authority

export function credentialRequest(asked: ResolveRequest): CredentialRequest {
  return { ...asked, ...authority(asked.host, asked.port ?? HTTPS_PORT) }
}
