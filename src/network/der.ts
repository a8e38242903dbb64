/** The few forms of DER (X.690) that certificates and trust stores need. */

const OID_NAMES = {
  commonName: [2, 5, 4, 3],
  subjectKeyIdentifier: [2, 5, 29, 14],
  keyUsage: [2, 5, 29, 15],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  nameConstraints: [2, 5, 29, 30],
  authorityKeyIdentifier: [2, 5, 29, 35],
  extKeyUsage: [2, 5, 29, 37],
  serverAuth: [1, 3, 6, 1, 5, 5, 7, 3, 1],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
  anyExtendedKeyUsage: [2, 5, 29, 37, 0],
  data: [1, 2, 840, 113549, 1, 7, 1],
  certBag: [1, 2, 840, 113549, 1, 12, 10, 1, 3],
  x509Certificate: [1, 2, 840, 113549, 1, 9, 22, 1],
  friendlyName: [1, 2, 840, 113549, 1, 9, 20],
  /** Oracle's: without it, Java takes no certificate bag for trusted. */
  trustedKeyUsage: [2, 16, 840, 1, 113894, 746875, 1, 1],
} as const
export type OidName = keyof typeof OID_NAMES

function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body])
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return [0x80 | bytes.length, ...bytes]
}

function sequence(...items: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...items)
}

function oid(name: OidName): Buffer {
  const [first = 0, second = 0, ...rest] = OID_NAMES[name]
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(arc: number): number[] {
  const bytes = [arc & 0x7f]
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f))
  return bytes
}

function set(...items: readonly Uint8Array[]): Buffer {
  return tagged(0x31, ...items)
}

/** Returns what is tagged `[0]` around its own tag. */
function explicit(item: Uint8Array): Buffer {
  return tagged(0xa0, item)
}

/** UTF-16, big-endian. */
function bmpString(text: string): Buffer {
  return tagged(0x1e, Buffer.from(text, 'utf16le').swap16())
}

/** A positive INTEGER from unsigned big-endian bytes whose first byte is not zero. */
function positiveInteger(bytes: Uint8Array): Buffer {
  const signed = (bytes[0] ?? 0) & 0x80 ? [Buffer.from([0]), bytes] : [bytes]
  return tagged(0x02, ...signed)
}

function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return tagged(0x03, Buffer.from([unusedBits]), bytes)
}

function octetString(bytes: Uint8Array): Buffer {
  return tagged(0x04, bytes)
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]))
}

function utf8String(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text))
}

/** UTCTime: right for the years up to 2049 (RFC 5280 section 4.1.2.5). */
function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '')
  return tagged(0x17, Buffer.from(digits.slice(2), 'latin1'))
}

/** Encodes DER. Each takes what it holds and gives the bytes of the whole element. */
export const der = {
  tagged,
  sequence,
  oid,
  set,
  explicit,
  bmpString,
  positiveInteger,
  bitString,
  octetString,
  boolean,
  utf8String,
  utcTime,
} as const
