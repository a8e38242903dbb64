/**
 * HTTP/1.1 by one strict grammar, between bytes and messages: connections of the child, which are read and answered here, and
 * those to services, which are written, read and kept for the next request. What passes from one to the other keeps the exact
 * bytes that it came with, but for fields that were put in or concern one leg. Must never pass on what two servers could read
 * in two ways, never decide where a request goes or what it carries, and never ask the daemon.
 */
export { ChildConnection } from './child-connection.ts'
export type { ChildRequest } from './child-request.ts'
export { ChunkDecoder } from './chunk-decoder.ts'
export { GatheredBytes } from './gathered-bytes.ts'
export { HeadSearch } from './head-search.ts'
export { lineOf } from './header-fields.ts'
export { lastRefusal } from './own-answer.ts'
export { UpstreamPool } from './upstream-pool.ts'
