import type * as Http2 from 'node:http2'

/** Returns `node:http2`, which is loaded when it is first asked for: a run that speaks HTTP/1.1 alone never pays for it. */
export function http2(): typeof Http2 {
  return process.getBuiltinModule('node:http2')
}

/** Error codes that are said here (RFC 9113 section 7). */
export const NO_ERROR = 0
export const PROTOCOL_ERROR = 1
export const INTERNAL_ERROR = 2
export const REFUSED_STREAM = 7
export const CANCEL = 8
export const CONNECT_ERROR = 10

/**
 * Bounds of a session, on both legs. A child is held to them so that nothing it does costs more than its own run; a service so
 * that it cannot fill the memory of the run.
 */
export const BOUNDS = {
  /** Streams side by side; the next ones wait, or go to another session. */
  maxConcurrentStreams: 256,
  /** Data that one stream may send before it is read: what a reader who stops costs. */
  initialWindowSize: 256 * 1024,
  /** Bytes of a head, as it is read. */
  maxHeaderListSize: 65_536,
  /** Fields of a head. */
  maxHeaderListPairs: 2_000,
  /** Megabytes that a session may hold for its streams. */
  maxSessionMemory: 64,
  /** Entries of a SETTINGS frame. */
  maxSettings: 32,
  /** Streams that are reset as soon as they are opened: so many at once, and then so many a second. */
  streamResetBurst: 1_000,
  streamResetRate: 100,
  maxSessionInvalidFrames: 100,
} as const

/** What both legs set. */
export const SESSION = {
  maxHeaderListPairs: BOUNDS.maxHeaderListPairs,
  maxSessionMemory: BOUNDS.maxSessionMemory,
  maxSettings: BOUNDS.maxSettings,
  maxSendHeaderBlockLength: 262_144,
  strictSingleValueFields: false,
} as const
