import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { der, NameSuffixes, type OidName } from '../../network/index.ts'

/** Issues server certificates for the routed hosts of one run. */
export interface CertificateAuthority {
  /** The root, to be trusted by the child. */
  readonly caPem: string
  /** base64 of the SHA-256 of the public key (SPKI) that every leaf is for. */
  readonly keyPin: string
  /** What the proxy shows for `host`: leaf and intermediate, good for half a day at least. */
  secureContextFor(host: string): SecureContext
  /** Whether every host that the pattern means can have a certificate that is trusted. */
  covers(hostPattern: string): boolean
}

const HOUR = 3_600_000
/** As long as the key of a run: a child reads what it trusts when it starts, and may live for days. */
const AUTHORITY_LIFETIME = 7 * 24 * HOUR
const LEAF_LIFETIME = 24 * HOUR
/** Who connects later gets another, so that a session of half a day meets no end. */
const LEAF_SHOWN_FOR = 12 * HOUR
/** A child's clock may be behind ours. */
const CLOCK_MARGIN = HOUR
const MAX_CONTEXTS = 256
/**
 * Constrained names of one intermediate. It is part of every handshake, of which Java takes 32 KiB; the root is not, and has
 * them all.
 */
const NAMES_EACH = 50

interface Issuer {
  readonly name: string
  readonly key: KeyPair
}

interface Validity {
  readonly from: Date
  readonly to: Date
}

interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/**
 * Makes the run's chain: root, intermediates, leaves, all P-256 and all in memory only. All authorities are constrained to
 * `hosts` (`*` counts for the subtree right of it), the intermediates because Java ignores constraints of a trust anchor.
 * The root's key is gone when this returns, so nothing beside these intermediates can ever be issued under it.
 * @param now when the authorities begin
 * @param clock when a leaf does
 */
export function createCertificateAuthority(
  hosts: readonly string[],
  now: Date,
  clock: () => Date = () => now,
): CertificateAuthority {
  const validity = validFrom(now, AUTHORITY_LIFETIME)
  const suffixes = new NameSuffixes(hosts)
  const root: Issuer = { name: `Broker run ${randomBytes(4).toString('hex')}`, key: newKey() }
  const caPem = authorityCertificate(root, root, { depth: 1, names: suffixes.names, validity })
  const intermediates = intermediatesOf(root, suffixes.names, validity)
  const leafKey = newKey()
  const leafKeyPem = leafKey.privateKey.export({ type: 'pkcs8', format: 'pem' })

  const contexts = new LRUCache<string, { readonly context: SecureContext; readonly until: number }>({
    max: MAX_CONTEXTS,
  })
  return {
    caPem,
    keyPin: createHash('sha256')
      .update(leafKey.publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64'),
    covers: (hostPattern) => suffixes.of(hostPattern) !== undefined,
    secureContextFor(host) {
      const known = contexts.get(host)
      const time = clock()
      if (known !== undefined && time.getTime() < known.until) return known.context
      const { issuer, pem: intermediatePem } = intermediates(suffixes.of(host))
      const leafPem = certificate('Broker run', leafKey, issuer, validFrom(time, LEAF_LIFETIME), [
        critical('basicConstraints', der.sequence()),
        critical('keyUsage', DIGITAL_SIGNATURE),
        extension('extKeyUsage', der.sequence(der.oid('serverAuth'))),
        extension('subjectAltName', der.sequence(dnsName(host))),
      ])
      const context = createSecureContext({ key: leafKeyPem, cert: leafPem + intermediatePem, minVersion: 'TLSv1.2' })
      contexts.set(host, { context, until: time.getTime() + LEAF_SHOWN_FOR })
      return context
    },
  }
}

function validFrom(now: Date, lifetime: number): Validity {
  const from = now.getTime() - CLOCK_MARGIN
  return { from: new Date(from), to: new Date(from + lifetime) }
}

interface Intermediate {
  readonly issuer: Issuer
  readonly pem: string
}

/** Returns which one has a suffix among its names; of what nobody covers, one that no client takes for it. */
function intermediatesOf(
  root: Issuer,
  names: readonly string[],
  validity: Validity,
): (suffix: string | undefined) => Intermediate {
  const key = newKey()
  const count = Math.max(1, Math.ceil(names.length / NAMES_EACH))
  const all = Array.from({ length: count }, (_, at) => {
    const issuer: Issuer = { name: `${root.name} intermediate ${at + 1}`, key }
    const own = names.slice(at * NAMES_EACH, (at + 1) * NAMES_EACH)
    return { issuer, own, pem: authorityCertificate(issuer, root, { depth: 0, names: own, validity }) }
  })
  const byName = new Map(all.flatMap((one) => one.own.map((name) => [name, one])))
  return (suffix) => byName.get(suffix ?? '') ?? first(all)
}

function first<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error('There is no first one')
  return item
}

function authorityCertificate(
  subject: Issuer,
  issuer: Issuer,
  {
    depth,
    names,
    validity,
  }: { readonly depth: number; readonly names: readonly string[]; readonly validity: Validity },
): string {
  return certificate(subject.name, subject.key, issuer, validity, [
    critical('basicConstraints', der.sequence(der.boolean(true), der.positiveInteger(Buffer.from([depth])))),
    critical('keyUsage', KEY_CERT_SIGN),
    critical('nameConstraints', nameConstraints(names)),
  ])
}

function newKey(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** A certificate (RFC 5280) as PEM; the key identifiers are added to `extensions`. */
function certificate(
  subject: string,
  key: KeyPair,
  issuer: Issuer,
  validity: Validity,
  extensions: readonly Buffer[],
): string {
  const algorithm = der.sequence(der.oid('ecdsaWithSha256'))
  const publicKey = key.publicKey.export({ type: 'spki', format: 'der' })
  const identifiers = [
    extension('subjectKeyIdentifier', der.octetString(keyIdentifier(key.publicKey))),
    extension('authorityKeyIdentifier', der.sequence(der.tagged(0x80, keyIdentifier(issuer.key.publicKey)))),
  ]
  const toBeSigned = der.sequence(
    VERSION_3,
    der.positiveInteger(serialNumber()),
    algorithm,
    distinguishedName(issuer.name),
    der.sequence(der.utcTime(validity.from), der.utcTime(validity.to)),
    distinguishedName(subject),
    publicKey,
    der.tagged(0xa3, der.sequence(...extensions, ...identifiers)),
  )
  const signature = sign('sha256', toBeSigned, issuer.key.privateKey)
  return pem(der.sequence(toBeSigned, algorithm, der.bitString(signature)))
}

const VERSION_3 = der.tagged(0xa0, der.positiveInteger(Buffer.from([2])))
const KEY_CERT_SIGN = der.bitString(Buffer.from([0x04]), 2)
const DIGITAL_SIGNATURE = der.bitString(Buffer.from([0x80]), 7)

function serialNumber(): Buffer {
  const serial = randomBytes(16)
  serial[0] = 0x40 | ((serial[0] ?? 0) & 0x3f)
  return serial
}

function distinguishedName(commonName: string): Buffer {
  return der.sequence(der.tagged(0x31, der.sequence(der.oid('commonName'), der.utf8String(commonName))))
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
}

function extension(name: OidName, value: Buffer): Buffer {
  return der.sequence(der.oid(name), der.octetString(value))
}

function critical(name: OidName, value: Buffer): Buffer {
  return der.sequence(der.oid(name), der.boolean(true), der.octetString(value))
}

/** Permits these names with all below them, and no IP address at all. */
function nameConstraints(names: readonly string[]): Buffer {
  const permitted = names.map((name) => der.sequence(dnsName(name)))
  const everyAddress = [8, 32].map((length) => der.sequence(der.tagged(0x87, Buffer.alloc(length))))
  return der.sequence(der.tagged(0xa0, ...permitted), der.tagged(0xa1, ...everyAddress))
}

function dnsName(name: string): Buffer {
  return der.tagged(0x82, Buffer.from(name, 'latin1'))
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
