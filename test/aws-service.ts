import { createHash, createHmac, type KeyObject } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { SignatureV4 } from '@smithy/signature-v4'

/** A request as a service of AWS took it. */
export interface TakenRequest {
  readonly method: string
  readonly url: string
  readonly host: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** What a service would say: nothing where the signature is right. */
  readonly problem: string | undefined
}

export interface AccessKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Reads a whole request and judges its signature the way AWS does, with the signer of its own client library. */
export async function takeRequest(request: IncomingMessage, key: AccessKey): Promise<TakenRequest> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body = Buffer.concat(parts)
  const { method = '', url = '', headers } = request
  const problem = (await problemOfSignature(request, key)) ?? problemOfBody(headers['x-amz-content-sha256'], body)
  return { method, url, host: headers.host ?? '', headers, body, problem }
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=[0-9a-f]{64}$/

async function problemOfSignature(request: IncomingMessage, key: AccessKey): Promise<string | undefined> {
  const { headers, method = '', url = '' } = request
  const [, id, day, region = '', service = '', signed = ''] = AUTHORIZATION.exec(headers.authorization ?? '') ?? []
  if (id !== key.accessKeyId) return `not signed: ${headers.authorization}`
  if (headers['x-amz-security-token'] !== key.sessionToken) return 'another session token'
  const names = signed.split(';')
  const wanted = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  if (!wanted.every((name) => names.includes(name))) return `does not sign ${wanted}`
  const at = new Date(String(headers['x-amz-date']).replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5'))
  if (Math.abs(at.getTime() - Date.now()) > 60_000 || !String(headers['x-amz-date']).startsWith(day ?? '')) {
    return 'not signed now'
  }
  const { sessionToken: _, ...credentials } = key
  const signer = new SignatureV4({
    credentials,
    region,
    service,
    sha256: Sha256,
    uriEscapePath: service !== 's3',
    applyChecksum: false,
  })
  const { path, query } = partsOf(url)
  const signedRequest = await signer.sign(
    {
      method,
      protocol: 'https:',
      hostname: headers.host ?? '',
      path,
      query,
      // Node joins what is given twice in a way of its own.
      headers: Object.fromEntries(names.map((name) => [name, (request.headersDistinct[name] ?? []).join()])),
    },
    { signingDate: at, signableHeaders: new Set(names) },
  )
  return signedRequest.headers['authorization'] === headers.authorization ? undefined : 'SignatureDoesNotMatch'
}

function partsOf(url: string) {
  const at = url.indexOf('?')
  const query: Record<string, string[]> = {}
  for (const [name, value] of new URLSearchParams(at < 0 ? '' : url.slice(at)))
    query[name] = [...(query[name] ?? []), value]
  return { path: at < 0 ? url : url.slice(0, at), query }
}

function problemOfBody(declared: string | string[] | undefined, body: Buffer): string | undefined {
  if (typeof declared !== 'string') return 'no payload hash'
  if (!/^[0-9a-f]{64}$/.test(declared)) return undefined
  return createHash('sha256').update(body).digest('hex') === declared ? undefined : 'XAmzContentSHA256Mismatch'
}

/** The hash that the signer is given. */
class Sha256 {
  #hash: { update(data: Uint8Array): unknown; digest(): Buffer }

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string | KeyObject)
  }

  update(data: Uint8Array): void {
    this.#hash.update(data)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {}
}
