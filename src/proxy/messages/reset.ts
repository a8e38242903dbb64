/** The end of a message before its end. */
export interface Reset {
  readonly reason: 'upstream_abort' | 'protocol'
  /** The error code of HTTP/2 that it came with (RFC 9113 section 7), to be passed on as it is; HTTP/1.1 has none. */
  readonly code?: number
}
