import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProxyConfig } from './load-config.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/** As OpenSSL's own programs name what they look for: `c_rehash` makes the numbered ones. */
const CERTIFICATE_NAME = /\.(?:pem|crt|cer|[0-9]{1,2})$/i

/**
 * What the user's own SSL_CERT_FILE and SSL_CERT_DIR name, as PEM: trusted beside the system's. Where they point nowhere
 * there is nothing, as for every other program.
 */
export function userRoots({ trustFile, trustFolders = [] }: ProxyConfig): readonly string[] {
  const files = [...(trustFile === undefined ? [] : [trustFile]), ...trustFolders.flatMap(filesIn)]
  const roots = files.flatMap((path) => textOf(path).match(CERTIFICATE) ?? [])
  return [...new Set(roots)]
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).flatMap((name) => (CERTIFICATE_NAME.test(name) ? [join(folder, name)] : []))
  } catch {
    return []
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
