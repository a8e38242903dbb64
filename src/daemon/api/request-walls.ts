import type { IncomingMessage } from 'node:http'
import { BrokerError } from '../../protocol/index.ts'

/** Where the daemon may be addressed. */
export interface OwnAddresses {
  /** `127.0.0.1:7998`, in lower case, as a `Host` header has them. */
  readonly authorities: ReadonlySet<string>
  /** `http://127.0.0.1:7998` */
  readonly origins: readonly string[]
}

/** Who may send a browser to a route: the daemon's own pages and people, or any site that has it go there whole. */
export type Senders = 'own pages' | 'any site'

/**
 * What a request must be before anything of it is evaluated: for this daemon, by no page of another origin, of one
 * meaning only. A name that was rebound to this machine, a page that posts across origins and a path with two readings
 * all end here.
 * @throws BrokerError with the status the request deserves
 */
export function passWalls(request: IncomingMessage, own: OwnAddresses, senders: Senders): void {
  requireOneOf(request, 'host')
  requireOneOf(request, 'authorization')
  requireOwnHost(request, own)
  if (senders === 'any site') requireWholePage(request, own)
  else requireOwnOrigin(request, own)
  requireMethod(request)
  requireFraming(request)
  requirePlainTarget(request)
}

function requireOneOf({ rawHeaders }: IncomingMessage, name: string): void {
  const count = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length
  if (count > 1) throw malformed(`more than one ${name} header`)
}

function requireOwnHost({ headers }: IncomingMessage, { authorities }: OwnAddresses): void {
  if (headers.host !== undefined && authorities.has(headers.host.toLowerCase())) return
  throw new BrokerError('InvalidRequestError', 'This is not the host that the request is for', { httpStatus: 421 })
}

function requireOwnOrigin(request: IncomingMessage, own: OwnAddresses): void {
  if (isFromElsewhere(request, own) || request.headers['service-worker'] !== undefined) throw foreignPage()
}

/** Returns whether a page of another site had the browser come here, as far as the browser says. */
export function isFromElsewhere({ headers }: IncomingMessage, { origins }: OwnAddresses): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  // A page that names no referrer names no origin in a form either: then the browser's own word for it counts.
  const isUnnamed = origin === 'null' && site === 'same-origin'
  const foreignOrigin = origin !== undefined && !origins.includes(origin) && !isUnnamed
  const foreignReferer = headers.referer !== undefined && !origins.includes(originOf(headers.referer))
  const foreignSite = site !== undefined && site !== 'same-origin' && site !== 'none'
  return foreignOrigin || foreignReferer || foreignSite
}

/** A browser that leaves the other site for this one. A frame, a picture or a script of that site is none. */
function requireWholePage({ headers }: IncomingMessage, { origins }: OwnAddresses): void {
  // The mode says no more, and a program's HTTP client may name one.
  const { origin, 'sec-fetch-dest': destination = 'document' } = headers
  const foreignOrigin = origin !== undefined && !origins.includes(origin)
  if (foreignOrigin || destination !== 'document' || headers['service-worker'] !== undefined) throw foreignPage()
}

function foreignPage(): BrokerError {
  return new BrokerError('OperationNotAllowedError', 'Pages of another origin may not call the daemon')
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'null'
}

function requireMethod({ method }: IncomingMessage): void {
  if (method === 'TRACE' || method === 'CONNECT') {
    throw new BrokerError('InvalidRequestError', 'The daemon does not take this method', { httpStatus: 405 })
  }
}

function requireFraming({ headers }: IncomingMessage): void {
  const coding = headers['transfer-encoding']
  if (coding !== undefined && coding !== 'chunked') throw malformed('a transfer coding that the daemon does not take')
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw new BrokerError('InvalidRequestError', 'The daemon meets no such expectation', { httpStatus: 417 })
  }
}

const TARGET = /^\/[\x21-\x7e]*$/
// Spellings that one reader folds into another path and the next does not.
const AMBIGUOUS = /\/\/|\\|;|(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|%(?:2f|5c|0[0-9a-f]|1[0-9a-f]|7f)|%(?![0-9a-f]{2})/i

function requirePlainTarget({ url = '' }: IncomingMessage): void {
  const [path = ''] = url.split('?', 1)
  if (!TARGET.test(url) || AMBIGUOUS.test(path)) throw malformed('a target that can be read in two ways')
}

function malformed(what: string): BrokerError {
  return new BrokerError('InvalidRequestError', `The request has ${what}`, { httpStatus: 400 })
}
