/** The few forms of DER (X.690) that a certificate needs. */

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
} as const
export type OidName = keyof typeof OID_NAMES

export function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...derLength(body.length)]), body])
}

function derLength(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return [0x80 | bytes.length, ...bytes]
}

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return der(0x30, ...items)
}

export function oid(name: OidName): Buffer {
  const [first = 0, second = 0, ...rest] = OID_NAMES[name]
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(arc: number): number[] {
  const bytes = [arc & 0x7f]
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f))
  return bytes
}

/** A positive INTEGER from unsigned big-endian bytes whose first byte is not zero. */
export function positiveInteger(bytes: Uint8Array): Buffer {
  const signed = (bytes[0] ?? 0) & 0x80 ? [Buffer.from([0]), bytes] : [bytes]
  return der(0x02, ...signed)
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(0x03, Buffer.from([unusedBits]), bytes)
}

export function octetString(bytes: Uint8Array): Buffer {
  return der(0x04, bytes)
}

export function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.from([value ? 0xff : 0]))
}

export function utf8String(text: string): Buffer {
  return der(0x0c, Buffer.from(text))
}

/** UTCTime: right for the years up to 2049 (RFC 5280 section 4.1.2.5). */
export function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '')
  return der(0x17, Buffer.from(digits.slice(2), 'latin1'))
}
