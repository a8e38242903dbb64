/**
 * HTTP/2 between frames and messages, by `node:http2`: sessions of the child, whose streams become requests, and those to
 * services. Each side has its own; what passes from one to the other are fields, data, trailers and the codes of resets. Must
 * never put streams of two authorities, or two connections' credentials, on one session, never index a field that was injected,
 * never take a stream that was reset for one that ended, and never load `node:http2` before somebody speaks it.
 */
export { ChildSession } from './child-session.ts'
export { beginsHttp2 } from './preface.ts'
export { UpstreamSession } from './upstream-session.ts'
