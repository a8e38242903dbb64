import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, rootCertificates, type SecureContext } from 'node:tls'

/** Where systems keep their root certificates, PEM. */
export const SYSTEM_BUNDLES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/** The context of every upstream TLS connection: Node's own roots, the system's, and `furtherRoots` (PEM). */
export function createUpstreamTrust(furtherRoots: readonly string[]): SecureContext {
  const roots = new Set([...rootCertificates, ...systemRoots(), ...furtherRoots].map((pem) => pem.trim()))
  return createSecureContext({ ca: [...roots], minVersion: 'TLSv1.2' })
}

function systemRoots(): readonly string[] {
  if (process.platform === 'darwin' || process.platform === 'win32') return getCACertificates('system')
  const bundle = SYSTEM_BUNDLES.map(readIfThere).find((text) => text !== undefined) ?? ''
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
