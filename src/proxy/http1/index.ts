/**
 * HTTP/1.1 by one strict grammar: heads, framing of bodies, answers, and the pool of upstream connections. What passes keeps
 * the exact bytes that it came with. Must never pass on what two servers could read in two ways, and never ask the daemon.
 */
export { AnswerReader, type AnswerTaker, joined } from './answer-reader.ts'
export { BodyFramer, type BodyReader } from './body-framing.ts'
export { ChunkDecoder } from './chunk-decoder.ts'
export { CollectedBody } from './collected-body.ts'
export {
  type BodyFraming,
  cannotBecomeHead,
  findHeadEnd,
  type HeaderField,
  isBodiless,
  isHopByHop,
  MAX_HEAD_BYTES,
  Malformed,
} from './header-fields.ts'
export { type AfterRefusal, jsonAnswer, refusalAnswer } from './own-answer.ts'
export { parseRequestHead, pathOf, type RequestHead } from './request-head.ts'
export type { ResponseHead } from './response-head.ts'
export { type Lessee, type UpstreamConnection, UpstreamPool } from './upstream-pool.ts'
