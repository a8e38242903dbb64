import { createHash, createHmac } from 'node:crypto'
import type { Secret } from '../../protocol/index.ts'
import type { AwsScope } from './aws-scope.ts'
import { canonicalRequest, type Header } from './canonical-request.ts'

export interface AwsKey {
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
  /** Of a temporary key. */
  readonly sessionToken?: Secret
}

/** A request as it is on the wire. Bytes above ASCII are the characters of the same number. */
export interface SignableRequest {
  readonly method: string
  /** `host`, with its port where that is not 443. */
  readonly host: string
  readonly path: string
  /** Without its question mark. */
  readonly query: string
  /** Those to be signed beside `host` and the ones that the answer sets. */
  readonly headers: readonly Header[]
  /** SHA-256 of the body in hex, or the service's word for one that nobody hashed. */
  readonly payload: string
  readonly scope: AwsScope
}

/** The headers that sign a request at this moment, by name. */
export function sigV4Headers(request: SignableRequest, key: AwsKey, now: number): Readonly<Record<string, string>> {
  const amzDate = amzDateOf(now)
  const set = {
    'X-Amz-Date': amzDate,
    'X-Amz-Content-Sha256': request.payload,
    ...(key.sessionToken && { 'X-Amz-Security-Token': key.sessionToken.reveal() }),
  }
  const replaced = new Set(['host', 'authorization', 'x-amz-security-token', ...Object.keys(set).map(lower)])
  const headers = [
    { name: 'host', value: request.host },
    ...request.headers.filter(({ name }) => !replaced.has(lower(name))),
    ...Object.entries(set).map(([name, value]) => ({ name, value })),
  ]
  return { Authorization: authorization({ ...request, headers }, key, amzDate), ...set }
}

/** `Authorization` for exactly these headers. */
export function authorization(request: Omit<SignableRequest, 'host'>, key: AwsKey, amzDate: string): string {
  const { region, service } = request.scope
  const { text, signedHeaders } = canonicalRequest({ ...request, service })
  const day = amzDate.slice(0, 8)
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = [ALGORITHM, amzDate, scope, createHash('sha256').update(text, 'latin1').digest('hex')].join('\n')
  const signature = hmac(signingKey(key.secretAccessKey, day, request.scope), toSign).toString('hex')
  return `${ALGORITHM} Credential=${key.accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`
}

const ALGORITHM = 'AWS4-HMAC-SHA256'

function signingKey(secret: Secret, day: string, { region, service }: AwsScope): Buffer {
  return [day, region, service, 'aws4_request'].reduce(hmac, Buffer.from(`AWS4${secret.reveal()}`))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** `20150830T123600Z` */
function amzDateOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
}

function lower(text: string): string {
  return text.toLowerCase()
}
