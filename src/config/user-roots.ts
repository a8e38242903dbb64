import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { certificatesOf, usableCertificates } from '../network/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { ProxyConfig } from './load-config.ts'

/** As OpenSSL's own programs name what they look for: `c_rehash` makes the numbered ones. */
const CERTIFICATE_NAME = /\.(?:pem|crt|cer|[0-9]{1,2})$/i

/**
 * Returns what is trusted of services beside the system's roots, as PEM: BROKER_PROXY_CA_FILE, and the user's own SSL_CERT_FILE and
 * SSL_CERT_DIR.
 * @throws BrokerError InvalidRequestError where BROKER_PROXY_CA_FILE names no certificates
 */
export function upstreamRoots(proxy: ProxyConfig): readonly string[] {
  return [...ownRoots(proxy), ...userRoots(proxy)]
}

function ownRoots({ caFile }: ProxyConfig): readonly string[] {
  if (caFile === undefined) return []
  const roots = usableCertificates(caFile)
  if (roots !== undefined) return roots
  throw new BrokerError('InvalidRequestError', `BROKER_PROXY_CA_FILE names no PEM file of certificates: "${caFile}"`)
}

/**
 * Returns what the user's own SSL_CERT_FILE and SSL_CERT_DIR name, as PEM: trusted beside the system's. Where they point nowhere
 * there is nothing, as for every other program.
 */
export function userRoots({ trustFile, trustFolders = [] }: ProxyConfig): readonly string[] {
  return certificatesOf([...(trustFile === undefined ? [] : [trustFile]), ...trustFolders.flatMap(filesIn)])
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).flatMap((name) => (CERTIFICATE_NAME.test(name) ? [join(folder, name)] : []))
  } catch {
    return []
  }
}
