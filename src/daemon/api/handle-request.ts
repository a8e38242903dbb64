import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Proof, verifyProof } from '../../identity/index.ts'
import { type Actor, BrokerError, Secret } from '../../protocol/index.ts'
import type { Principals } from '../principals/index.ts'
import { invalidInput } from './error-answer.ts'
import type { RouteMatch } from './match-route.ts'
import { FORM, mediaTypeOf, parseBody, readBody, singleFields } from './read-body.ts'
import type { OwnAddresses } from './request-walls.ts'
import type { CallHeaders, RawReply, Reply } from './route.ts'

export interface HandlerOptions {
  readonly principals: Principals
  readonly own: OwnAddresses
  readonly now: () => number
}

const MAX_BODY = 1024 * 1024

/** One request from its raw bytes to what its route answers: read, authenticate, parse, act, in this order. */
export async function handleRequest(
  options: HandlerOptions,
  request: IncomingMessage,
  { route, params }: RouteMatch,
): Promise<Reply<unknown> | RawReply> {
  const bytes = await readBody(request, route.maxBody ?? MAX_BODY)
  const bodySha256 = hash('sha256', bytes, 'base64url')
  const who = await authenticate(options, request, { access: route.access, bodySha256 })
  return route.handle({
    who,
    params: parseParams(route, params),
    query: parse(route.query, queryOf(request), 'query'),
    body: parse(route.body, bodyOf(request, bytes, route), 'body'),
    bodySha256,
    headers: headersOf(request),
  })
}

type Wanted = { readonly access: RouteMatch['route']['access']; readonly bodySha256: string }

async function authenticate(
  { principals, own, now }: HandlerOptions,
  request: IncomingMessage,
  { access, bodySha256 }: Wanted,
): Promise<Actor | Proof | undefined> {
  if (access === 'anyone') return undefined
  const { method = '', url = '' } = request
  const proof = verifyProof(proofOf(request), { method, target: url, origins: own.origins, bodySha256, now: now() })
  if (access === 'key') return proof
  const actor = await principals.authenticate(proof)
  if (actor.run && access !== 'run') {
    throw new BrokerError('OperationNotAllowedError', 'The key of a run may ask for credentials, and nothing else')
  }
  if (access === 'admin' && actor.role !== 'admin') {
    throw new BrokerError('OperationNotAllowedError', 'Only an admin may do this')
  }
  return actor
}

function proofOf({ headers }: IncomingMessage): string {
  const [, jwt] = /^pop +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (jwt) return jwt
  throw new BrokerError('AuthenticationFailedError', 'The request carries no proof of possession', {
    hint: 'Send "Authorization: PoP <jwt>"; the command line does so by itself.',
  })
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

function bodyOf(request: IncomingMessage, bytes: Buffer, route: RouteMatch['route']): unknown {
  const body = parseBody(bytes, mediaTypeOf(request), route.takesForm === true)
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

function headersOf(request: IncomingMessage): CallHeaders {
  const { headers } = request
  const bootstrap = headers['x-broker-bootstrap']
  const challenge = headers['x-broker-challenge']
  const ifNoneMatch = headers['if-none-match']
  return {
    host: headers.host ?? '',
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
    ...(typeof bootstrap === 'string' && { bootstrap: new Secret(bootstrap) }),
    ...(typeof challenge === 'string' && { challenge }),
    wantsHtml: prefersHtml(headers.accept),
    isForm: mediaTypeOf(request) === FORM,
  }
}

function prefersHtml(accept = ''): boolean {
  return accept.includes('text/html') || !accept.includes('application/json')
}
