/**
 * HTTP as all versions of it have it: heads, bodies that flow, and what an edge offers to the exchange for a child and for a
 * service. Beside them, what the proxy says by itself. Types and plain values: must open nothing, hold no byte, know no
 * version of HTTP beyond the optional parts that say so, and never repeat a value that may be a secret.
 */
export type { Body, BodyDecoder, BodySink, Collector, Passage, RequestBody } from './body.ts'
export type { ChildStream, RequestEvents } from './child-stream.ts'
export { DialError } from './dial-error.ts'
export { isForbiddenTrailer, isHopByHop, isUnderscored } from './field-rules.ts'
export {
  type BodyFraming,
  type Field,
  type HttpVersion,
  isBodiless,
  pathOf,
  type RequestHead,
  type ResponseHead,
} from './head.ts'
export { answerOf, answerWith, type OwnAnswer } from './own-answer.ts'
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
  newRunNeeded,
  outerRunRefused,
  PAYLOAD_NOT_SIGNABLE,
  PROXY_CREDENTIALS_WANTED,
  plaintextRefused,
  type Refusal,
  strictRefused,
  TUNNEL_WANTED,
  type UpstreamProblem,
  unknownAuthority,
  upstreamUnreachable,
} from './refusal.ts'
export type { Reset } from './reset.ts'
export { resized } from './resized.ts'
export type { AnswerEvents, LeaseTerms, Loss, OutgoingRequest, UpstreamStream, Upstreams } from './upstream-stream.ts'
