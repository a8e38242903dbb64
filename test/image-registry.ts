import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash, createPrivateKey, type KeyObject, randomUUID, sign, X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram } from '../tools/available.ts'

/** The reference registry of images behind TLS servers of ours. It lets in who brings a token that the token service signed. */
export interface ImageRegistry {
  /** `/v2/`: passes on to the registry, whose challenge leads to this token service. */
  registry(tokenService: string): RequestListener
  /** The same for a registry without tokens: for whoever gets here it asks for them itself. */
  openRegistry(): RequestListener
  /** Gives anyone who gets here what the query asks for. */
  tokenService(): RequestListener
  /** As `registry`, but blobs are elsewhere: a redirect to this host leads there. */
  redirectingRegistry(tokenService: string, blobHost: string): RequestListener
  /** What blobs are redirected to: let in by their address alone. */
  blobs(): RequestListener
  close(): void
}

const SERVICE = 'images'
const ISSUER = 'tokens'

/** @param folder its own, made here */
export async function startImageRegistry(folder: string): Promise<ImageRegistry> {
  mkdirSync(folder)
  const signer = makeSigner(folder)
  const { port, process } = await startRegistry(folder, signer.certificate)
  const redirected = new Map<string, string>()

  function passOn(incoming: IncomingMessage, response: ServerResponse, how: Passing): void {
    const { path = incoming.url, authorization = incoming.headers.authorization, tokenService } = how
    const headers = { ...incoming.headers, ...(authorization !== undefined && { authorization }) }
    const outgoing = request({ host: '127.0.0.1', port, method: incoming.method, path, headers }, (answer) => {
      const challenge = `Bearer realm="${tokenService}",service="${SERVICE}"`
      const given = answer.headers['www-authenticate']?.replace(/Bearer realm="[^"]*",service="[^"]*"/, challenge)
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...(given && { 'www-authenticate': given }) })
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  }

  return {
    registry: (tokenService) => (incoming, response) => passOn(incoming, response, { tokenService }),
    openRegistry: () => (incoming, response) => {
      const repository = /^\/v2\/(.+)\/(?:blobs|manifests|tags)\//.exec(incoming.url ?? '')?.[1]
      const scopes = repository === undefined ? [] : [`repository:${repository}:pull,push`]
      passOn(incoming, response, { authorization: `Bearer ${tokenFor(scopes, signer)}` })
    },
    tokenService: () => (incoming, response) => {
      const { searchParams } = new URL(incoming.url ?? '', 'https://tokens.test')
      const token = tokenFor(searchParams.getAll('scope'), signer)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token }))
    },
    redirectingRegistry: (tokenService, blobHost) => (incoming, response) => {
      const isBlob = incoming.method === 'GET' && incoming.url?.includes('/blobs/sha256:')
      if (!isBlob || incoming.headers.authorization === undefined) return passOn(incoming, response, { tokenService })
      const path = `/${randomUUID()}${incoming.url}`
      redirected.set(path, incoming.headers.authorization)
      response.writeHead(307, { location: `https://${blobHost}${path}` }).end()
    },
    blobs: () => (incoming, response) => {
      const authorization = redirected.get(incoming.url ?? '')
      if (authorization === undefined) response.writeHead(403).end()
      else passOn(incoming, response, { path: (incoming.url ?? '').slice('/'.length + 36), authorization })
    },
    close: () => void process.kill(),
  }
}

interface Passing {
  readonly path?: string | undefined
  readonly authorization?: string | undefined
  readonly tokenService?: string
}

/** An image with one layer, in the layout that skopeo calls `oci:`. */
export function makeImage(folder: string): void {
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true })
  const blob = (bytes: string | Buffer, mediaType: string) => {
    const digest = createHash('sha256').update(bytes).digest('hex')
    writeFileSync(join(folder, 'blobs/sha256', digest), bytes)
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(bytes) }
  }
  // Two blocks of nothing end an archive.
  const layer = blob(Buffer.alloc(1_024), 'application/vnd.oci.image.layer.v1.tar')
  const rootfs = { type: 'layers', diff_ids: [layer.digest] }
  const config = blob(
    JSON.stringify({ architecture: 'amd64', os: 'linux', rootfs }),
    'application/vnd.oci.image.config.v1+json',
  )
  const manifest = blob(
    JSON.stringify({ schemaVersion: 2, config, layers: [layer] }),
    'application/vnd.oci.image.manifest.v1+json',
  )
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [manifest] }))
}

interface Signer {
  readonly key: KeyObject
  /** Path of its certificate. */
  readonly certificate: string
  readonly keyId: string
}

function makeSigner(folder: string): Signer {
  const [keyFile, certificate] = [join(folder, 'token.key'), join(folder, 'token.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const files = ['-keyout', keyFile, '-out', certificate, '-subj', `/CN=${ISSUER}`]
  execFileSync('openssl', ['req', '-x509', ...curve, ...files], { stdio: 'pipe' })
  const { publicKey } = new X509Certificate(readFileSync(certificate))
  const keyId = keyIdOf(publicKey.export({ type: 'spki', format: 'der' }))
  return { key: createPrivateKey(readFileSync(keyFile)), certificate, keyId }
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** As the registry names keys: 240 bits of a digest in base32, in groups of four. */
function keyIdOf(der: Buffer): string {
  const bits = [...createHash('sha256').update(der).digest().subarray(0, 30)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
  const letters = bits.replace(/.{5}/g, (five) => BASE32.charAt(Number.parseInt(five, 2)))
  return letters.replace(/.{4}(?=.)/g, '$&:')
}

function tokenFor(scopes: readonly string[], { key, keyId }: Signer): string {
  const now = Math.floor(Date.now() / 1_000)
  const access = scopes
    .flatMap((scope) => scope.split(' '))
    .map((scope) => scope.split(':'))
    .map(([type, name, actions = '']) => ({ type, name, actions: actions.split(',') }))
  const claims = {
    iss: ISSUER,
    sub: '',
    aud: SERVICE,
    iat: now,
    nbf: now - 60,
    exp: now + 300,
    jti: randomUUID(),
    access,
  }
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const content = `${encode({ typ: 'JWT', alg: 'ES256', kid: keyId })}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' })
  return `${content}.${signature.toString('base64url')}`
}

async function startRegistry(folder: string, certificate: string): Promise<{ port: number; process: ChildProcess }> {
  const file = join(folder, 'registry.yml')
  const configuration = {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'images') } },
    http: { addr: '127.0.0.1:0', relativeurls: true },
    auth: { token: { realm: 'https://tokens.test/', service: SERVICE, issuer: ISSUER, rootcertbundle: certificate } },
  }
  writeFileSync(file, JSON.stringify(configuration))
  const child = spawn(findProgram('docker-registry') ?? '', ['serve', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.once('error', reject)
  child.once('exit', () => reject(new Error('The registry of images ended before it listened')))
  createInterface({ input: child.stderr }).on('line', (line) => {
    const port = /listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) resolve(Number(port))
  })
  return { port: await promise, process: child }
}
