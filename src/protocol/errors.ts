/**
 * Every error that crosses the wire or ends a command, with its HTTP status and its exit code
 * (interface section 7, contract section 3).
 */
export type ErrorName =
  | 'AuthenticationFailedError'
  | 'InputCancelledError'
  | 'InvalidRequestError'
  | 'ConnectionNotFoundError'
  | 'ProviderNotFoundError'
  | 'OperationNotAllowedError'
  | 'ConflictError'
  | 'IdentityNotClaimedError'
  | 'CredentialMissingError'
  | 'TokenExpiredError'
  | 'RefreshFailedError'
  | 'ConnectionAlreadyExistsError'
  | 'ProviderAlreadyRegisteredError'
  | 'EndpointUnreachableError'
  | 'DaemonUnavailableError'
  | 'NotFoundError'
  | 'RateLimitedError'
  | 'InternalError'

export const httpStatusOf: Readonly<Record<ErrorName, number>> = {
  AuthenticationFailedError: 401,
  InputCancelledError: 409,
  InvalidRequestError: 422,
  ConnectionNotFoundError: 404,
  ProviderNotFoundError: 404,
  OperationNotAllowedError: 403,
  ConflictError: 409,
  IdentityNotClaimedError: 403,
  CredentialMissingError: 409,
  TokenExpiredError: 409,
  RefreshFailedError: 502,
  ConnectionAlreadyExistsError: 409,
  ProviderAlreadyRegisteredError: 409,
  EndpointUnreachableError: 502,
  DaemonUnavailableError: 503,
  NotFoundError: 404,
  RateLimitedError: 429,
  InternalError: 500,
}

export const exitCodeOf: Readonly<Record<ErrorName, number>> = {
  AuthenticationFailedError: 2,
  InputCancelledError: 2,
  InvalidRequestError: 2,
  ConnectionNotFoundError: 3,
  ProviderNotFoundError: 4,
  OperationNotAllowedError: 4,
  ConflictError: 4,
  IdentityNotClaimedError: 2,
  CredentialMissingError: 5,
  TokenExpiredError: 5,
  RefreshFailedError: 5,
  ConnectionAlreadyExistsError: 6,
  ProviderAlreadyRegisteredError: 7,
  EndpointUnreachableError: 8,
  DaemonUnavailableError: 9,
  NotFoundError: 1,
  RateLimitedError: 1,
  InternalError: 1,
}

export const ERROR_NAMES = Object.keys(httpStatusOf) as readonly ErrorName[]

export function isErrorName(name: unknown): name is ErrorName {
  return typeof name === 'string' && Object.hasOwn(httpStatusOf, name)
}

/** One thing wrong with the input: `path` is dotted (`definition.hosts.0`), `message` never repeats the value. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

export interface BrokerErrorOptions {
  /** What would work instead, one sentence. */
  readonly hint?: string
  readonly provider?: string
  readonly connection?: string
  readonly details?: readonly ErrorDetail[]
  /** Where the owner claims the identity; only with IdentityNotClaimedError. */
  readonly claimUrl?: string
  /** What the page of that address has to show; only whoever has the key can tell. */
  readonly claimCode?: string
  /** Another status than the table's: 400, 413, 415, 421 for requests that never became one. */
  readonly httpStatus?: number
  /** Seconds, where coming again later may help: RateLimitedError, DaemonUnavailableError. */
  readonly retryAfter?: number
  readonly cause?: unknown
}

/** An error a caller can act on. `message` says the action, the state and what would work; it holds no secret. */
export class BrokerError extends Error {
  override readonly name: ErrorName
  readonly options: BrokerErrorOptions

  constructor(name: ErrorName, message: string, options: BrokerErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = name
    this.options = options
  }
}

/** The JSON of every non-2xx answer (contract section 3). */
export interface ErrorBody {
  readonly error: ErrorName
  readonly message: string
  readonly request_id: string
  readonly provider?: string
  readonly connection?: string
  readonly hint?: string
  readonly details?: readonly ErrorDetail[]
  readonly claim_url?: string
}
