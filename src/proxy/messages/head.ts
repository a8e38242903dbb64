/**
 * A header or trailer field. `line` and `spelled` belong to HTTP/1.1: who reads or changes a message needs neither, and an
 * edge of another version writes `name` and `value`.
 */
export interface Field {
  /** In lower case. */
  readonly name: string
  /** Without the white space around it. */
  readonly value: string
  /** The whole line with its CRLF, exactly as it came; absent of a field that was made here, or came by another version. */
  readonly line?: string
  /** The name as HTTP/1.1 is to write it, where there is no line. */
  readonly spelled?: string
  /** Its sender keeps it out of every table of HPACK, and so does whoever passes it on (RFC 7541 section 7.1.3). */
  readonly neverIndexed?: true
}

/** Length of a body, and how its end is told. Without one of these the end of the stream is the end of the body. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  /** In the chunks of HTTP/1.1, which only an edge of that version may pass on as they are. */
  | { readonly kind: 'chunked' }
  /** Until its sender ends it: by the end of the connection in HTTP/1.1, of the stream in HTTP/2. */
  | { readonly kind: 'until_close' }

/** A request before its body, and what RFC 9110 section 6.2 calls its control data. */
export interface RequestHead {
  readonly method: string
  /** Path and query as they came; an absolute URL of plain http; `host:port` of CONNECT. */
  readonly target: string
  /** Of HTTP/2 it is 1.1, which says the same. */
  readonly version: '1.0' | '1.1'
  /** The authority that it is for, as its sender wrote it; empty of a CONNECT that has none. */
  readonly host: string
  /** Set where HTTP/2 has a field `host` beside `:authority` that says something else: then it is for neither. */
  readonly namesTwoHosts?: true
  readonly fields: readonly Field[]
  readonly framing: BodyFraming
  /** Names in lower case that `Connection` lists: fields of the sender's own leg. None in HTTP/2. */
  readonly connection: readonly string[]
  /**
   * Asks to leave HTTP for the protocol that its fields `connection` and `upgrade` name. An edge of HTTP/2 makes these of an
   * extended CONNECT (RFC 8441), GET in place of its method, and reads the 101 that answers it as 200; and the other way round.
   */
  readonly upgrade: boolean
}

/** A final or interim (1xx) answer before its body. 101 is neither: with it the stream leaves HTTP. */
export interface ResponseHead {
  readonly version: '1.0' | '1.1'
  readonly status: number
  readonly fields: readonly Field[]
  readonly framing: BodyFraming
  /** As in a request. */
  readonly connection: readonly string[]
  /** The first line with its CRLF, exactly as HTTP/1.1 had it; absent of an answer that came otherwise. */
  readonly statusLine?: string
  /** The bytes of the whole head, in the same way. What keeps the head keeps all that they were read with. */
  readonly exact?: Buffer
}

/** A version of HTTP, as ALPN names it. */
export type HttpVersion = 'http/1.1' | 'h2'

/** Tells whether no byte of a body follows. */
export function isBodiless(framing: BodyFraming): boolean {
  return framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0)
}

/** The target without its query. */
export function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}
