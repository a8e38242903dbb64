/**
 * The certificates of a PEM bundle as a PKCS#12 trust store (RFC 7292) that Java reads without a password: bags in the
 * clear, no MAC, each marked with Oracle's trustedKeyUsage, without which Java takes no certificate bag for trusted.
 * Made here because `keytool` takes a second for it.
 */
export function pkcs12TrustStore(bundle: string): Buffer {
  const bags = certificatesOf(bundle).map(trustedBag)
  const authenticatedSafe = sequence(contentInfo(sequence(...bags)))
  return sequence(integer(3), contentInfo(authenticatedSafe))
}

const PEM_BLOCK = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----([^-]+)-----END/g

function certificatesOf(bundle: string): readonly Buffer[] {
  const bodies = [...bundle.matchAll(PEM_BLOCK)].map(([, base64 = '']) => base64.replace(/\s+/g, ''))
  return [...new Set(bodies)].map((base64) => Buffer.from(base64, 'base64'))
}

const DATA = oid('2a864886f70d010701')
const CERT_BAG = oid('2a864886f70d010c0a0103')
const X509_CERTIFICATE = oid('2a864886f70d01091601')
const FRIENDLY_NAME = oid('2a864886f70d010914')
const TRUSTED_KEY_USAGE = oid('6086480186f966adca7b0101')
const ANY_EXTENDED_KEY_USAGE = oid('551d2500')

function trustedBag(certificate: Buffer, index: number): Buffer {
  const bag = sequence(X509_CERTIFICATE, explicit(octets(certificate)))
  const name = Buffer.from(`root-${index}`, 'utf16le').swap16()
  const attributes = set(
    sequence(FRIENDLY_NAME, set(tlv(0x1e, name))),
    sequence(TRUSTED_KEY_USAGE, set(ANY_EXTENDED_KEY_USAGE)),
  )
  return sequence(CERT_BAG, explicit(bag), attributes)
}

function contentInfo(content: Buffer): Buffer {
  return sequence(DATA, explicit(octets(content)))
}

function sequence(...items: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(items))
}

function set(...items: readonly Buffer[]): Buffer {
  return tlv(0x31, Buffer.concat(items))
}

function explicit(item: Buffer): Buffer {
  return tlv(0xa0, item)
}

function octets(bytes: Buffer): Buffer {
  return tlv(0x04, bytes)
}

function integer(value: number): Buffer {
  return tlv(0x02, Buffer.of(value))
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'))
}

function tlv(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length)
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.of(0x80 | bytes.length), bytes])
}
