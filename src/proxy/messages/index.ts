/**
 * What the proxy says by itself, in place of a service. Plain values: must open nothing, and must never repeat a value that
 * may be a secret.
 */
export { DialError } from './dial-error.ts'
export {
  ABSOLUTE_FORM,
  ASYMMETRIC_SIGNATURE,
  addressRefused,
  authorityMismatch,
  BAD_AUTHORITY,
  BODY_TOO_LONG_TO_SIGN,
  credentialInvalid,
  credentialRefused,
  DECODED_LENGTH_WANTED,
  HOST_CONFLICT,
  METHOD_NOT_ALLOWED,
  malformedRequest,
  NOT_A_PROXY_REQUEST,
  outerRunRefused,
  PAYLOAD_NOT_SIGNABLE,
  PROXY_CREDENTIALS_WANTED,
  plaintextRefused,
  type Refusal,
  type RefusalStatus,
  strictRefused,
  TUNNEL_WANTED,
  type UpstreamProblem,
  unknownAuthority,
  upstreamUnreachable,
} from './refusal.ts'
