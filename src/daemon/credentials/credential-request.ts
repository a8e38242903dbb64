import { authority, HTTPS_PORT } from '../../network/index.ts'
import type { ResolveRequest } from '../../schemas/index.ts'
import type { OwnRequest } from './own-server.ts'

/** A request for a credential, its host and port in the one spelling that all of this room compares. */
export type CredentialRequest = Omit<ResolveRequest, keyof OwnRequest> & OwnRequest

export function credentialRequest(asked: ResolveRequest): CredentialRequest {
  const { host, port = HTTPS_PORT, path, provider, connection, ...more } = asked
  return {
    ...more,
    ...authority(host, port),
    ...(path !== undefined && { path }),
    ...(provider !== undefined && { provider }),
    ...(connection !== undefined && { connection }),
  }
}
