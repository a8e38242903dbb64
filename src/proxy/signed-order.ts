import { createHash } from 'node:crypto'
import type { Authority } from '../network/index.ts'
import { withoutOptionalSpace } from '../protocol/index.ts'
import type { ResolveRequest, Signable } from '../schemas/index.ts'
import { AwsChunkedBody } from './aws-chunked-body.ts'
import type { SignedOrder } from './exchange/index.ts'
import {
  ASYMMETRIC_SIGNATURE,
  DECODED_LENGTH_WANTED,
  type Field,
  isBodiless,
  PAYLOAD_NOT_SIGNABLE,
  pathOf,
  type Refusal,
  type RequestHead,
} from './messages/index.ts'

/**
 * Plans how a request to a service that wants signatures is signed (AWS Signature Version 4). Undefined for one that
 * carries a signature in its query: that is somebody's own link, and stays as it is.
 */
export function signedOrder(head: RequestHead, target: Authority): SignedOrder | Refusal | undefined {
  if (isPresigned(head.target)) return undefined
  const authorization = fieldValue(head, 'authorization') ?? ''
  const declared = fieldValue(head, 'x-amz-content-sha256')
  if (/AWS4-ECDSA/i.test(`${authorization} ${declared}`) || fieldValue(head, 'x-amz-region-set') !== undefined)
    return ASYMMETRIC_SIGNATURE
  const scope = scopeIn(authorization)
  const order = (payload: string, sent = head): ResolveRequest => questionAbout(sent, target, payload, scope)
  if (declared !== undefined && PASSING.test(declared)) return { question: order(declared) }
  if (declared !== undefined && CHUNKS_SIGNED.test(declared)) return decoded(head, order)
  // Any other word is for a body that signs itself as it goes.
  if (declared !== undefined && declared !== '') return PAYLOAD_NOT_SIGNABLE
  if (isBodiless(head.framing)) return { question: order(EMPTY_SHA256) }
  if (isS3(target, scope)) return { question: order(UNSIGNED) }
  // It was asked for already when the body is sent on.
  const sent = without(head, (name) => name === 'expect')
  const { sign: _, ...question } = order(UNSIGNED)
  return { question, head: sent, collects: (payload) => order(payload, sent) }
}

const UNSIGNED = 'UNSIGNED-PAYLOAD'
const PASSING = /^(?:[0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-UNSIGNED-PAYLOAD-TRAILER)$/
const CHUNKS_SIGNED = /^STREAMING-AWS4-HMAC-SHA256-PAYLOAD(?:-TRAILER)?$/
const EMPTY_SHA256 = createHash('sha256').digest('hex')

function isPresigned(target: string): boolean {
  const at = target.indexOf('?')
  return at !== -1 && /[?&]X-Amz-Signature=/i.test(target.slice(at))
}

function fieldValue(head: RequestHead, wanted: string): string | undefined {
  return head.fields.find(({ name }) => name === wanted)?.value
}

/** What the child signed for: it knows the service better than the name of the host does. */
function scopeIn(authorization: string): Signable['scope'] {
  const found =
    /^AWS4-HMAC-SHA256 .*?Credential=[^/,\s]+\/[0-9]{8}\/([a-z0-9-]{1,50})\/([a-z0-9-]{1,50})\/aws4_request/.exec(
      authorization,
    )
  return found?.[1] !== undefined && found[2] !== undefined ? { region: found[1], service: found[2] } : undefined
}

const S3_SERVICES: ReadonlySet<string> = new Set(['s3', 's3express', 's3-object-lambda', 's3-outposts'])

/** Takes bodies that nobody hashed. */
function isS3({ host }: Authority, scope: Signable['scope']): boolean {
  if (scope !== undefined) return S3_SERVICES.has(scope.service)
  return host.endsWith('.amazonaws.com') && host.split('.').includes('s3')
}

/** The child signed each chunk with a key that is none: what goes on is the object that is in them. */
function decoded(
  head: RequestHead,
  order: (payload: string, sent: RequestHead) => ResolveRequest,
): SignedOrder | Refusal {
  const announced = fieldValue(head, 'x-amz-decoded-content-length') ?? ''
  if (!/^[0-9]{1,15}$/.test(announced)) return DECODED_LENGTH_WANTED
  const length = Number(announced)
  const sent = withLength(withoutChunks(head), length)
  return { question: order(UNSIGNED, sent), head: sent, decoder: new AwsChunkedBody(length) }
}

/** Of the chunks themselves, and of a checksum that would have come behind them. */
const ABOUT_CHUNKS: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'trailer',
  'x-amz-decoded-content-length',
  'x-amz-trailer',
])

function withoutChunks(head: RequestHead): RequestHead {
  const hasTrailer = fieldValue(head, 'x-amz-trailer') !== undefined
  const kept = without(
    head,
    (name) => ABOUT_CHUNKS.has(name) || (hasTrailer && name === 'x-amz-sdk-checksum-algorithm'),
  )
  return { ...kept, fields: kept.fields.flatMap(withoutAwsChunked) }
}

function withoutAwsChunked(field: Field): readonly Field[] {
  if (field.name !== 'content-encoding') return [field]
  const codings = field.value.split(',').map(withoutOptionalSpace)
  const kept = codings.filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked')
  return kept.length === 0 ? [] : [fieldOf('Content-Encoding', kept.join(', '))]
}

function withLength(head: RequestHead, length: number): RequestHead {
  return {
    ...head,
    fields: [...head.fields, fieldOf('Content-Length', String(length))],
    framing: { kind: 'length', length },
  }
}

function fieldOf(name: string, value: string): Field {
  return { name: name.toLowerCase(), value, spelled: name }
}

function without(head: RequestHead, isDropped: (name: string) => boolean): RequestHead {
  return { ...head, fields: head.fields.filter(({ name }) => !isDropped(name)) }
}

/** Set by the daemon; what the child has of its own there may be worth something. */
const ANSWERED: ReadonlySet<string> = new Set(['x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'])

/** What a service insists on, and what changes the meaning of the request. */
function isSigned(name: string): boolean {
  if (ANSWERED.has(name)) return false
  return name === 'host' || name === 'content-type' || name === 'content-md5' || name.startsWith('x-amz-')
}

function questionAbout(
  head: RequestHead,
  { host, port }: Authority,
  payload: string,
  scope: Signable['scope'],
): ResolveRequest {
  const at = head.target.indexOf('?')
  const headers = head.fields.filter(({ name }) => isSigned(name) && !head.connection.includes(name))
  return {
    host,
    port,
    method: head.method,
    path: pathOf(head.target),
    sign: {
      payload,
      headers: headers.map(({ name, value }) => ({ name, value })),
      ...(at !== -1 && { query: head.target.slice(at + 1) }),
      ...(scope !== undefined && { scope }),
    },
  }
}
