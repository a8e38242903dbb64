import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { der, type OidName } from '../../network/index.ts'

/** Issues server certificates for the routed hosts of one run. */
export interface CertificateAuthority {
  /** The root, to be trusted by the child. */
  readonly caPem: string
  /** base64 of the SHA-256 of the public key (SPKI) that every leaf is for. */
  readonly keyPin: string
  /** What the proxy shows for `host`: leaf and intermediate, minted once. */
  secureContextFor(host: string): SecureContext
}

const HOUR = 3_600_000
const LIFETIME = 24 * HOUR
/** A child's clock may be behind ours. */
const CLOCK_MARGIN = HOUR
const MAX_CONTEXTS = 256

interface Issuer {
  readonly name: string
  readonly key: KeyPair
}

interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/**
 * Makes the run's chain: root, intermediate, leaves, all P-256 and all in memory only. Both authorities are constrained
 * to `hosts` (`*` counts for the subtree right of it), the intermediate because Java ignores constraints of a trust
 * anchor. The root's key is gone when this returns, so nothing beside the one intermediate can ever be issued under it.
 */
export function createCertificateAuthority(hosts: readonly string[], now: Date): CertificateAuthority {
  const validity = {
    from: new Date(now.getTime() - CLOCK_MARGIN),
    to: new Date(now.getTime() - CLOCK_MARGIN + LIFETIME),
  }
  const constraints = nameConstraints(hosts)
  const label = randomBytes(4).toString('hex')
  const root: Issuer = { name: `Broker run ${label}`, key: newKey() }
  const intermediate: Issuer = { name: `Broker run ${label} intermediate`, key: newKey() }
  const leafKey = newKey()
  const leafKeyPem = leafKey.privateKey.export({ type: 'pkcs8', format: 'pem' })

  const authority = (subject: Issuer, issuer: Issuer, depth: number) =>
    certificate(subject.name, subject.key, issuer, validity, [
      critical('basicConstraints', der.sequence(der.boolean(true), der.positiveInteger(Buffer.from([depth])))),
      critical('keyUsage', KEY_CERT_SIGN),
      critical('nameConstraints', constraints),
    ])
  const caPem = authority(root, root, 1)
  const intermediatePem = authority(intermediate, root, 0)

  const contexts = new LRUCache<string, SecureContext>({ max: MAX_CONTEXTS })
  return {
    caPem,
    keyPin: createHash('sha256')
      .update(leafKey.publicKey.export({ type: 'spki', format: 'der' }))
      .digest('base64'),
    secureContextFor(host) {
      const known = contexts.get(host)
      if (known !== undefined) return known
      const leafPem = certificate('Broker run', leafKey, intermediate, validity, [
        critical('basicConstraints', der.sequence()),
        critical('keyUsage', DIGITAL_SIGNATURE),
        extension('extKeyUsage', der.sequence(der.oid('serverAuth'))),
        extension('subjectAltName', der.sequence(dnsName(host))),
      ])
      const context = createSecureContext({ key: leafKeyPem, cert: leafPem + intermediatePem, minVersion: 'TLSv1.2' })
      contexts.set(host, context)
      return context
    },
  }
}

function newKey(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** A certificate (RFC 5280) as PEM; the key identifiers are added to `extensions`. */
function certificate(
  subject: string,
  key: KeyPair,
  issuer: Issuer,
  validity: { readonly from: Date; readonly to: Date },
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

/** Permits the names of `hosts` and below, and no IP address at all. */
function nameConstraints(hosts: readonly string[]): Buffer {
  const subtrees = [...new Set(hosts.map((host) => host.slice(host.lastIndexOf('*') + 1).replace(/^\./, '')))]
  const permitted = subtrees.map((name) => der.sequence(dnsName(name)))
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
