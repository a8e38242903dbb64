import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, rootCertificates, type SecureContext } from 'node:tls'

/** Where systems keep their root certificates, PEM. */
const SYSTEM_BUNDLES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

const CERTIFICATE = /-----BEGIN ((?:TRUSTED )?CERTIFICATE)-----\s+([A-Za-z0-9+/=\s]+?)-----END \1-----/g

/** The certificates of PEM texts, each once and nothing else; those with trust settings (`TRUSTED`) among them. */
export function certificatesIn(...texts: readonly string[]): readonly string[] {
  const blocks = texts.flatMap((text) => [...text.matchAll(CERTIFICATE)])
  const byBody = new Map(blocks.map(([block, , body = '']) => [body.replace(/\s+/g, ''), block]))
  return [...byBody.values()]
}

/** The certificates of PEM files; of one that cannot be read, none. */
export function certificatesOf(paths: readonly string[]): readonly string[] {
  return certificatesIn(...paths.map((path) => readIfThere(path) ?? ''))
}

/** The certificates of a PEM file that somebody named; undefined where it has none, or one that TLS cannot read. */
export function usableCertificates(path: string): readonly string[] | undefined {
  const found = certificatesOf([path])
  try {
    createSecureContext({ ca: found.filter(isPlain) })
  } catch {
    return undefined
  }
  return found.length === 0 ? undefined : found
}

/** The roots that this machine trusts, PEM; empty where it keeps them in no place that is known. */
export function systemRoots(): readonly string[] {
  if (process.platform === 'darwin' || process.platform === 'win32') return getCACertificates('system')
  for (const path of SYSTEM_BUNDLES) {
    const roots = certificatesOf([path])
    if (roots.length > 0) return roots
  }
  return []
}

/** Those of `roots` (PEM) that a TLS client would believe, and that neither Node nor the system has. */
export function rootsBeyondSystem(roots: readonly string[]): readonly string[] {
  const given = certificatesIn(...roots).filter(isPlain)
  if (given.length === 0) return []
  const known = new Set([...rootCertificates, ...systemRoots()].map(bodyOf))
  return given.filter((root) => !known.has(bodyOf(root)))
}

function bodyOf(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----|\s+/g, '')
}

/** Whom a TLS client believes: Node's own roots, the system's, and `furtherRoots` (PEM). */
export function trustContext(furtherRoots: readonly string[]): SecureContext {
  const ca = certificatesIn(...rootCertificates, ...systemRoots(), ...furtherRoots).filter(isPlain)
  return createSecureContext({ ca, minVersion: 'TLSv1.2' })
}

// Node reads no certificate with trust settings of OpenSSL's own.
function isPlain(pem: string): boolean {
  return pem.startsWith('-----BEGIN CERTIFICATE-----')
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

/** OpenSSL's verdicts on a chain that ends in nothing that is trusted. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Returns whether a connection failed because the other side's certificate is of an authority that is not trusted here. */
export function isUnknownAuthority(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNKNOWN_AUTHORITY.has(String(error.code))
}
