import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { certificatesIn, systemRoots } from '../network/index.ts'
import { findProgram } from './find-program.ts'
import { pkcs12TrustStore } from './pkcs12-trust-store.ts'

type Environment = Readonly<Record<string, string>>

/** Files that make the child's tools trust the run's authority; absolute paths inside the run's folder. */
export interface TrustFiles {
  /** The run's authority, and what the user's NODE_EXTRA_CA_CERTS and DENO_CERT name: added to roots a tool has built in. */
  readonly authority: string
  /** The system's roots, what the user's own variables name, and the run's authority: replaces a tool's roots. */
  readonly bundle: string
  /** The bundle as PKCS#12, for Java. */
  readonly trustStore: string | undefined
  readonly wgetrc: string
  /** Folder of php.ini fragments. */
  readonly phpIni: string
}

const ADDING = ['NODE_EXTRA_CA_CERTS', 'DENO_CERT'] as const
/** Variables that name a bundle which replaces the tool's own roots. */
export const REPLACING = [
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
  'npm_config_cafile',
  'GRPC_DEFAULT_SSL_ROOTS_FILE_PATH',
  'HTTPLIB2_CA_CERTS',
  'PERL_LWP_SSL_CA_FILE',
] as const
/** The same where the user has them; setting them for everyone breaks more than it mends (AWS_CA_BUNDLE: rclone). */
export const REPLACING_WHERE_SET = ['AWS_CA_BUNDLE', 'CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE', 'NIX_SSL_CERT_FILE'] as const

/** Java alone needs the roots in a form of its own, which is not worth making for everyone. */
export function hasJava(inherited: Environment): boolean {
  return inherited['JAVA_HOME'] !== undefined || findProgram(['java'], inherited) !== undefined
}

/** What the user's tools trust without the run's authority, and whether Java is among them. */
export interface TrustBase {
  readonly added: string
  readonly roots: string
  readonly wgetrc: string
  readonly withJava: boolean
}

/** Reads it ahead of time: it is the larger part of the work. `withJava` costs reading every root once more. */
export function readTrustBase(inherited: Environment, { withJava }: { readonly withJava: boolean }): TrustBase {
  const added = ADDING.flatMap((name) => pemNamedBy(inherited[name]))
  const replaced = [...REPLACING, ...REPLACING_WHERE_SET].flatMap((name) => pemNamedBy(inherited[name]))
  const roots = certificatesOnce([...knownRoots(), ...added, ...replaced])
  return { added: certificatesOnce(added), roots, wgetrc: userWgetrc(inherited), withJava }
}

export function writeTrustFiles(folder: string, caPem: string, base: TrustBase): TrustFiles {
  const bundle = `${base.roots}${caPem.trim()}\n`
  const bundlePath = write(folder, 'bundle.pem', bundle)
  return {
    authority: write(folder, 'authority.pem', `${base.added}${caPem.trim()}\n`),
    bundle: bundlePath,
    trustStore: base.withJava ? write(folder, 'trust.p12', pkcs12TrustStore(bundle)) : undefined,
    wgetrc: write(folder, 'wgetrc', `${base.wgetrc}\nca_certificate = ${bundlePath}\n`),
    phpIni: writePhpIni(folder, bundlePath),
  }
}

function write(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' })
  return path
}

// In the run's folder itself: PHP reads only *.ini of it.
function writePhpIni(folder: string, bundle: string): string {
  write(folder, 'broker.ini', `curl.cainfo="${bundle}"\nopenssl.cafile="${bundle}"\n`)
  return folder
}

/** Returns the system's roots; where it keeps none, those that Node has built in. */
function knownRoots(): readonly string[] {
  const roots = systemRoots()
  return roots.length > 0 ? roots : rootCertificates
}

/** The user's path may point nowhere; the tool would have failed then, the run does not. */
function pemNamedBy(path: string | undefined): readonly string[] {
  const text = path ? readIfThere(path) : undefined
  return text === undefined ? [] : [text]
}

function userWgetrc(inherited: Environment): string {
  const path = inherited['WGETRC'] ?? (inherited['HOME'] && join(inherited['HOME'], '.wgetrc'))
  return (path && readIfThere(path)) ?? ''
}

/**
 * Every certificate of these texts, each once and nothing else: users and nested runs name one bundle in many variables,
 * and each client reads all of it.
 */
function certificatesOnce(texts: readonly string[]): string {
  return certificatesIn(...texts)
    .map((block) => `${block}\n`)
    .join('')
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
