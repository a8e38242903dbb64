import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BrokerError, type BrowserActor, Secret } from '../../protocol/index.ts'

import type { Keys } from '../keys/index.ts'
import { type AuthenticateOptions, authenticate } from './authenticate.ts'
import { invalidInput } from './error-answer.ts'
import type { RouteMatch } from './match-route.ts'
import { FORM, mediaTypeOf, parseBody, readBody, singleFields } from './read-body.ts'
import { isFromElsewhere } from './request-walls.ts'
import type { AnyReply, CallHeaders } from './route.ts'
import { browserMarksOf, sessionTokenOf } from './session-cookie.ts'
import { isFromHere, type SourceOf } from './source.ts'
import type { SourceLimits } from './source-limits.ts'

export interface HandlerOptions extends AuthenticateOptions {
  readonly sourceOf: SourceOf
  readonly limits: SourceLimits
  readonly keys: Pick<Keys, 'requireOpen' | 'used'>
  /** Has this daemon see what others have changed; absent where there are none. */
  readonly news?: () => Promise<void>
  /** Told whose vault or agents a request may have changed, once that is stored. */
  readonly onChange?: (principalId: string) => void
}

const MAX_BODY = 1024 * 1024

/** One request from its raw bytes to what its route answers: read, authenticate, parse, act, in this order. */
export async function handleRequest(
  options: HandlerOptions,
  request: IncomingMessage,
  { route, params }: RouteMatch,
): Promise<AnyReply> {
  const source = options.sourceOf(request)
  if (route.perSource) options.limits.take(route.perSource, source)
  admit(options.keys, route)
  const bytes = await readBody(request, route.maxBody ?? MAX_BODY)
  const bodySha256 = hash('sha256', bytes, 'base64url')
  const headers = headersOf(options, request, source)
  const [who] = await Promise.all([
    authenticate(options, request, { access: route.access, bodySha256, caller: headers.caller }),
    asksRooms(route) ? options.news?.() : undefined,
  ])
  const { csrf, body } = csrfOf(headers, bodyOf(request, bytes, route), route)
  const query = parse(route.query, queryOf(request), 'query')
  if (who && 'browser' in who && wantsCsrf(request, route, query)) {
    await options.accounts.requireCsrf(who as BrowserActor, csrf)
  }
  const reply = await route.handle({
    who,
    params: parseParams(route, params),
    query,
    body: parse(route.body, body, 'body'),
    bodySha256,
    headers,
  })
  if (who && 'principalId' in who && mayChange(request, route)) options.onChange?.(who.principalId)
  return reply
}

/** @throws BrokerError DaemonUnavailableError for what is not answered while the vault is sealed */
function admit(keys: HandlerOptions['keys'], { whileSealed, isPolled }: RouteMatch['route']): void {
  if (whileSealed) return
  keys.requireOpen()
  if (!isPolled) keys.used()
}

/** What a run may call changes nothing of what runs may use. */
function mayChange({ method }: IncomingMessage, { access }: RouteMatch['route']): boolean {
  return method !== 'GET' && method !== 'HEAD' && access !== 'run'
}

/** What anybody may ask, but for the pages of logins, is the same at all daemons. */
function asksRooms({ access, isPage }: RouteMatch['route']): boolean {
  return access !== 'anyone' || isPage === true
}

function wantsCsrf({ method }: IncomingMessage, route: RouteMatch['route'], query: unknown): boolean {
  if (route.checksCsrf) return false
  if (method !== 'GET' && method !== 'HEAD') return true
  const sent = query as Readonly<Record<string, unknown>> | undefined
  return Object.entries(route.csrfWhere ?? {}).some(([name, value]) => sent?.[name] === value)
}

/** A form cannot send headers: its token is one of its fields. */
function csrfOf({ csrf: sent, isForm }: CallHeaders, body: unknown, route: RouteMatch['route']) {
  if (!isForm || route.access === 'anyone' || route.checksCsrf) return { csrf: sent, body }
  const { csrf, ...fields } = body as Record<string, string>
  return { csrf: sent ?? csrf, body: fields }
}

function parseParams(route: RouteMatch['route'], params: RouteMatch['params']): unknown {
  const result = route.params?.safeParse(params)
  if (!result || result.success) return result?.data
  // A name that cannot be is a name that is not there.
  const field = String(result.error.issues[0]?.path[0])
  if (field === 'provider') throw new BrokerError('ProviderNotFoundError', 'There is no provider of that name')
  if (field === 'connection') throw new BrokerError('ConnectionNotFoundError', 'There is no connection of that name')
  throw new BrokerError('NotFoundError', 'There is nothing of that name')
}

function queryOf({ url = '' }: IncomingMessage): Record<string, string> {
  const start = url.indexOf('?')
  if (start < 0) return {}
  const query = singleFields(new URLSearchParams(url.slice(start)))
  if (query) return query
  throw new BrokerError('InvalidRequestError', 'The query gives a parameter twice')
}

/** The bytes are overwritten: there may be a credential among them. */
function bodyOf(request: IncomingMessage, bytes: Buffer, route: RouteMatch['route']): unknown {
  const body = parseBody(bytes, mediaTypeOf(request), route.takesForm === true)
  bytes.fill(0)
  // Those who must send a body with each POST send an empty object where there is nothing to say.
  return body === undefined ? {} : body
}

function parse(schema: RouteMatch['route']['body'], value: unknown, at: 'body' | 'query'): unknown {
  if (!schema) {
    if (isEmptyObject(value)) return undefined
    throw new BrokerError('InvalidRequestError', `This route takes no ${at}`)
  }
  const result = schema.safeParse(value)
  if (!result.success) throw invalidInput(result.error, at)
  return result.data
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
}

function headersOf(options: HandlerOptions, request: IncomingMessage, source: string): CallHeaders {
  const { headers } = request
  const marks = browserMarksOf(request, options)
  const session = sessionTokenOf(request, options)
  const userAgent = headers['user-agent']
  const bootstrap = headers['x-broker-bootstrap']
  const operator = headers['x-broker-operator']
  const challenge = headers['x-broker-challenge']
  const csrf = headers['x-csrf-token']
  const ifNoneMatch = headers['if-none-match']
  return {
    host: headers.host ?? '',
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
    ...(typeof bootstrap === 'string' && { bootstrap: new Secret(bootstrap) }),
    ...(typeof operator === 'string' && isFromHere(request) && { operator: new Secret(operator) }),
    ...(typeof challenge === 'string' && { challenge }),
    wantsHtml: prefersHtml(headers.accept),
    isForm: mediaTypeOf(request) === FORM,
    ...(typeof csrf === 'string' && { csrf }),
    caller: {
      source,
      ...(userAgent !== undefined && { userAgent }),
      ...(session !== undefined && { session }),
      ...(marks !== undefined && { marks }),
    },
    isFromElsewhere: isFromElsewhere(request, options.own),
    takesBrotli: takesBrotli(headers['accept-encoding']),
  }
}

function prefersHtml(accept = ''): boolean {
  return accept.includes('text/html') || !accept.includes('application/json')
}

function takesBrotli(accepted: string | string[] = ''): boolean {
  const codings = String(accepted).toLowerCase().split(',')
  return codings.some((coding) => /^\s*br\s*(?:;|$)/.test(coding) && !/;\s*q=0(?:\.0*)?\s*$/.test(coding))
}
