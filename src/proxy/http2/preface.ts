/** How a client begins HTTP/2 (RFC 9113 section 3.4): no request of another version looks like it. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Tells whether the first bytes of a connection are those of HTTP/2, as far as they go. */
export function beginsHttp2(first: Buffer): boolean {
  const length = Math.min(first.length, PREFACE.length)
  return length > 3 && first.subarray(0, length).equals(PREFACE.subarray(0, length))
}
