import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { AddressKind } from '../../network/index.ts'
import { guardedLookup, type LookUp, type Reach } from './guarded-lookup.ts'
import { type OutboundProxies, openAgents } from './outbound-agents.ts'
import { outsideUrl } from './outside-url.ts'
import { Unreachable, type UnreachableKind } from './provider-failure.ts'

/** Answers longer than this are not read, packed or unpacked. */
const MAX_ANSWER_BYTES = 262_144
const DEFAULT_TIME_LIMIT_MS = 10_000
const TOKEN_TIME_LIMIT_MS = 25_000
const ANSWER_HEADERS = ['content-type', 'date', 'retry-after', 'www-authenticate'] as const

export interface OutboundOptions {
  /** Others reach this daemon: no private address is asked, whoever names it. */
  readonly hosted: boolean
  /** Further roots (PEM): what the environment names. */
  readonly roots?: readonly string[]
  readonly proxies?: OutboundProxies
  readonly version: string
  /** From the name being looked up to the last byte of the answer; as the request says if absent. */
  readonly timeLimitMs?: number
  /** How names become addresses: the system's way if absent. */
  readonly lookUp?: LookUp
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** In lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether the URL may lead to a private address: only one that the user chose, or a server that is at one itself. */
  readonly reach: Reach
  /** `head` leaves the body unread, as of an answer that may never end. `whole` if absent. */
  readonly wants?: 'head' | 'whole'
  /** 10 s if absent. */
  readonly timeLimitMs?: number
}

export interface Answer {
  readonly response: Response
  /** Where it came from; `public` through a proxy. */
  readonly from: AddressKind
}

/** Asks once. Redirects are answers like any other. @throws Unreachable */
export type Outbound = (wanted: OutboundRequest) => Promise<Answer>

/** The only way out of this room. */
export function openOutbound(options: OutboundOptions): Outbound {
  const agentFor = openAgents(options.proxies, options.roots)
  return async (wanted) => {
    const href = outsideUrl(wanted.url)
    if (href === undefined) throw new Unreachable('forbidden_url', hostOf(wanted.url))
    const url = new URL(href)
    const guarded = guardedLookup(url, options.hosted ? 'public' : wanted.reach, options.lookUp)
    const timeLimitMs = options.timeLimitMs ?? wanted.timeLimitMs ?? DEFAULT_TIME_LIMIT_MS
    const timeLimit = AbortSignal.timeout(timeLimitMs)
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: wanted.method,
      headers: { accept: 'application/json', ...wanted.headers, ...ownHeaders(options.version) },
      agent: agentFor(url),
      lookup: guarded.lookup,
      signal: timeLimit,
      // The signal does not reach a socket that still waits for its tunnel through a proxy.
      timeout: timeLimitMs,
    })
    try {
      return { response: await exchange(request, wanted, timeLimit), from: guarded.from() }
    } catch (error) {
      if (error instanceof Unreachable) throw error
      throw new Unreachable(timeLimit.aborted ? 'time_limit' : kindOf(error, request), url.host)
    } finally {
      request.destroy()
    }
  }
}

/** For requests that spend something which is good once: giving up early would lose it. */
export function patiently(ask: Outbound): Outbound {
  return (wanted) => ask({ ...wanted, timeLimitMs: TOKEN_TIME_LIMIT_MS })
}

function ownHeaders(version: string) {
  return { 'accept-encoding': 'identity', 'user-agent': `broker/${version}` }
}

async function exchange(
  request: ClientRequest,
  { body, wants, url }: OutboundRequest,
  timeLimit: AbortSignal,
): Promise<Response> {
  // An error that comes after the answer began is the answer's: nobody else listens then.
  request.on('error', () => {})
  request.end(body)
  const [message] = (await once(request, 'response', { signal: timeLimit })) as [IncomingMessage]
  const bytes = wants === 'head' ? undefined : await unpacked(message, await readWhole(message, url), url)
  return responseOf(message, bytes, url)
}

async function readWhole(message: IncomingMessage, url: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_ANSWER_BYTES) throw new Unreachable('too_long', hostOf(url))
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function unpacked(message: IncomingMessage, bytes: Buffer, url: string): Promise<Buffer> {
  const encoding = (message.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return bytes
  // Some pack what nobody asked them to pack; a little can be unpacked, a bomb cannot.
  if (encoding !== 'gzip' && encoding !== 'x-gzip') throw new Unreachable('encoding', hostOf(url))
  return gunzipAsync(bytes, { maxOutputLength: MAX_ANSWER_BYTES }).catch(() => {
    throw new Unreachable('encoding', hostOf(url))
  })
}

const gunzipAsync = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

function responseOf(message: IncomingMessage, bytes: Buffer | undefined, url: string): Response {
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (const name of ANSWER_HEADERS) {
    const value = message.headers[name]
    if (value !== undefined) headers.set(name, value)
  }
  if (status < 200 || status > 599) throw new Unreachable('not_http', hostOf(url))
  return new Response(bytes === undefined || EMPTY_STATUSES.has(status) ? null : new Uint8Array(bytes), {
    status,
    headers,
  })
}

/** With these a `Response` may have no body. */
const EMPTY_STATUSES = new Set([204, 205, 304])

function kindOf(error: unknown, request: ClientRequest): UnreachableKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'other'
  return kind === 'reset' && (request.socket?.bytesRead ?? 0) > 0 ? 'cut_off' : kind
}

const KINDS: readonly (readonly [RegExp, UnreachableKind])[] = [
  [/^ECONNREFUSED$/, 'refused'],
  [/^(?:ECONNRESET|ECONNABORTED|EPIPE)$/, 'reset'],
  [/^(?:ENOTFOUND|EAI_.*|ENODATA)$/, 'name'],
  [/^ETIMEDOUT$/, 'time_limit'],
  [/^ERR_PROXY_/, 'proxy'],
  [/^HPE_/, 'not_http'],
  [/CERT|SSL|TLS|^EPROTO$|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, 'tls'],
]

function hostOf(text: string): string {
  return URL.parse(text)?.host.slice(0, 100) || 'The server'
}
