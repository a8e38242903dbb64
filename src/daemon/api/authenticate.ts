import type { IncomingMessage } from 'node:http'
import { type Proof, verifyProof } from '../../identity/index.ts'
import { type Actor, BrokerError, type BrowserActor, Secret } from '../../protocol/index.ts'
import type { Access } from '../../schemas/index.ts'
import type { Accounts, Caller } from '../accounts/index.ts'
import type { Principals, Suspended } from '../principals/index.ts'
import type { OwnAddresses } from './request-walls.ts'
import { type CookieOptions, sessionTokenOf } from './session-cookie.ts'
import { isFromHere } from './source.ts'

export interface AuthenticateOptions extends CookieOptions {
  readonly principals: Principals
  readonly accounts: Accounts
  readonly own: OwnAddresses
  readonly now: () => number
}

export interface Wanted {
  readonly access: Access
  /** base64url */
  readonly bodySha256: string
  readonly caller: Caller
}

/** Returns who calls, as far as the route wants to know: by the proof of a key, or by the session of a browser. */
export async function authenticate(
  options: AuthenticateOptions,
  request: IncomingMessage,
  { access, bodySha256, caller }: Wanted,
): Promise<Actor | BrowserActor | Proof | Suspended | undefined> {
  if (access === 'anyone') return undefined
  if (access === 'browser') return browserOf(options, request)
  if (access === 'operator') return requireOperator(options, request, caller)
  if (takesBrowsers(access) && isBrowser(options, request)) return allowed(await browserOf(options, request), access)
  const { method = '', url = '' } = request
  const { own, now, principals } = options
  const proof = verifyProof(proofOf(request), { method, target: url, origins: own.origins, bodySha256, now: now() })
  if (access === 'key' || access === 'key or browser') return proof
  if (access !== 'principal or suspended') return allowed(await principals.authenticate(proof), access)
  const who = await principals.authenticateOrSuspend(proof)
  return 'suspended' in who ? who : allowed(who, access)
}

async function requireOperator(
  { accounts }: AuthenticateOptions,
  request: IncomingMessage,
  caller: Caller,
): Promise<undefined> {
  if (!isFromHere(request) || request.headers.authorization !== undefined) {
    throw new BrokerError('OperationNotAllowedError', "Only the operator on the daemon's own machine may do this", {
      hint: 'Run `broker admin` there.',
    })
  }
  const secret = request.headers['x-broker-operator']
  await accounts.requireOperator(typeof secret === 'string' ? new Secret(secret) : undefined, caller)
}

function takesBrowsers(access: Access): boolean {
  return ['principal', 'principal or run', 'principal or suspended', 'admin', 'key or browser'].includes(access)
}

/** Whoever signs says so by a header; a browser has nothing but its cookie. */
function isBrowser(options: AuthenticateOptions, request: IncomingMessage): boolean {
  return request.headers.authorization === undefined && sessionTokenOf(request, options) !== undefined
}

function browserOf(options: AuthenticateOptions, request: IncomingMessage): Promise<BrowserActor> {
  const token = sessionTokenOf(request, options)
  if (token !== undefined) return options.accounts.authenticate(token.reveal())
  throw new BrokerError('AuthenticationFailedError', 'This browser is not signed in', {
    hint: 'Sign in, or run `broker dashboard`.',
  })
}

function allowed<Caller extends Actor>(actor: Caller, access: Access): Caller {
  if (actor.run && access !== 'run' && access !== 'principal or run') {
    throw new BrokerError('OperationNotAllowedError', 'A run may use what it was started with, and nothing else')
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
