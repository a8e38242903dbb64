import { type Authority, formatAuthority } from '../../network/index.ts'
import { BrokerError, type BrokerErrorOptions, type ErrorName } from '../../protocol/index.ts'

export type RefusalStatus = 400 | 403 | 405 | 407 | 411 | 413 | 421 | 431 | 502

/** An answer of the proxy itself, in place of the service's. Never says more than the child already knows. */
export interface Refusal {
  readonly status: RefusalStatus
  readonly error: ErrorName
  readonly message: string
  /** What would work instead. */
  readonly hint: string
  /** One word for programs and for the audit log. */
  readonly reason: string
  /** Seconds after which it may work. */
  readonly retryAfter?: number
}

/** A request that the strict reader does not take; `reason` is its fixed word. */
export function malformedRequest({
  status,
  reason,
}: {
  readonly status: 400 | 405 | 431
  readonly reason: string
}): Refusal {
  return {
    status,
    error: 'InvalidRequestError',
    message: status === 431 ? 'The request head is larger than 64 KiB' : 'The request is not well-formed HTTP',
    hint: 'The proxy passes on only what every server reads in the same way.',
    reason: `malformed_${reason}`,
  }
}

export const PROXY_CREDENTIALS_WANTED: Refusal = {
  status: 407,
  error: 'AuthenticationFailedError',
  message: 'This proxy serves only the command that `broker run` started',
  hint: 'Use the credentials of HTTPS_PROXY.',
  reason: 'proxy_credentials',
}

export const NOT_A_PROXY_REQUEST: Refusal = {
  status: 400,
  error: 'InvalidRequestError',
  message: 'This is a proxy and serves nothing itself',
  hint: 'Send it CONNECT, or a request for an absolute http:// URL.',
  reason: 'not_a_proxy_request',
}

export const TUNNEL_WANTED: Refusal = {
  status: 400,
  error: 'InvalidRequestError',
  message: 'An https request goes through a proxy by a tunnel',
  hint: 'Send CONNECT host:443 first; this client does not know how.',
  reason: 'tunnel_wanted',
}

export const BAD_AUTHORITY: Refusal = {
  status: 400,
  error: 'InvalidRequestError',
  message: 'The authority of the request is not a plain host name or address with a port',
  hint: 'Write it as host:port, without user information or escapes.',
  reason: 'bad_authority',
}

export const METHOD_NOT_ALLOWED: Refusal = {
  status: 405,
  error: 'InvalidRequestError',
  message: 'This method is not passed on by the broker proxy',
  hint: 'Use another method.',
  reason: 'method_not_allowed',
}

export const ABSOLUTE_FORM: Refusal = {
  status: 400,
  error: 'InvalidRequestError',
  message: 'A request inside a CONNECT tunnel must name a path, not a URL',
  hint: 'Send the path alone, and the host in Host.',
  reason: 'absolute_form',
}

export const ASYMMETRIC_SIGNATURE: Refusal = {
  status: 400,
  error: 'InvalidRequestError',
  message: 'The request is signed for several regions (SigV4A), which the broker cannot do',
  hint: 'Use the address of one region, not a multi-region access point.',
  reason: 'sigv4a',
}

export const PAYLOAD_NOT_SIGNABLE: Refusal = {
  status: 400,
  error: 'InvalidRequestError',
  message: 'The body of the request is signed in a way that the broker does not know',
  hint: 'X-Amz-Content-Sha256 can be a SHA-256, UNSIGNED-PAYLOAD, or a streaming word for aws-chunked bodies.',
  reason: 'payload_not_signable',
}

export const DECODED_LENGTH_WANTED: Refusal = {
  status: 411,
  error: 'InvalidRequestError',
  message: 'The request signs its chunks and does not say how long the object in them is',
  hint: 'Send X-Amz-Decoded-Content-Length, as S3 itself wants it.',
  reason: 'decoded_length_wanted',
}

export const BODY_TOO_LONG_TO_SIGN: Refusal = {
  status: 413,
  error: 'InvalidRequestError',
  message: 'The body is too long to be hashed before it is sent: the broker holds 32 MiB',
  hint: 'Send its SHA-256 in X-Amz-Content-Sha256: then it is not held.',
  reason: 'body_too_long_to_sign',
}

export const HOST_CONFLICT: Refusal = {
  status: 400,
  error: 'InvalidRequestError',
  message: 'The Host header and the URL of the request name different hosts',
  hint: 'Send the host of the URL in Host.',
  reason: 'host_conflict',
}

export function authorityMismatch(host: string): Refusal {
  return {
    status: 421,
    error: 'OperationNotAllowedError',
    message: `The connection is for ${host}: CONNECT, TLS server name and Host must name one and the same host`,
    hint: 'Open another connection for another host.',
    reason: 'authority_mismatch',
  }
}

export function plaintextRefused({ host, port }: Authority): Refusal {
  return {
    status: 403,
    error: 'OperationNotAllowedError',
    message: `Cannot send a request to ${host} over plain http: a credential would be readable on the way`,
    hint: `Use https://${port === 80 || port === 443 ? host : formatAuthority({ host, port })}/.`,
    reason: 'plaintext_refused',
  }
}

export function strictRefused(host: string): Refusal {
  return {
    status: 403,
    error: 'OperationNotAllowedError',
    message: `Cannot reach ${host}: no connected provider has this host, and the run is strict`,
    hint: 'Connect its provider with `broker login`, or run without --strict.',
    reason: 'strict',
  }
}

/** Its credential was connected after the run began, and the run's authority was not made for its name. */
export function newRunNeeded(host: string): Refusal {
  return {
    status: 403,
    error: 'OperationNotAllowedError',
    message: `Cannot inject the credential of ${host}: it was connected after this run began, under a host that no definition had then`,
    hint: 'Start the command again with `broker run`.',
    reason: 'new_run_needed',
  }
}

export function outerRunRefused(host: string): Refusal {
  return {
    status: 403,
    error: 'OperationNotAllowedError',
    message: `Cannot reach ${host}: the run around this one does not go there`,
    hint: 'The outer `broker run` decides where this one may go: see whether it has --strict.',
    reason: 'outer_run',
  }
}

/** An address that the child may not reach through the proxy. */
export function addressRefused(reason: keyof typeof REFUSED_ADDRESSES): Refusal {
  const [what, hint] = REFUSED_ADDRESSES[reason]
  return {
    status: 403,
    error: 'OperationNotAllowedError',
    message: `Cannot reach ${what} through the proxy`,
    hint,
    reason,
  }
}

const NO_BUSINESS = 'A command behind `broker run` has no business there.'
const REFUSED_ADDRESSES = {
  daemon_address: ['the broker daemon', NO_BUSINESS],
  metadata_address: ['a cloud metadata service', NO_BUSINESS],
  own_machine: [
    'a server on this machine',
    'Share its port with the sandbox: `broker run --sandbox --allow-port <port>`.',
  ],
} as const

export type UpstreamProblem =
  | 'dns'
  | 'refused'
  | 'tls_certificate'
  | 'tls_name'
  | 'tls_dates'
  | 'tls'
  | 'timeout'
  | 'descriptors'
  | 'reset'
  | 'corporate_proxy'
  | 'outer_run'
  | 'protocol'

const PROBLEMS: Readonly<Record<UpstreamProblem, readonly [what: string, hint: string]>> = {
  dns: ['its name could not be resolved', 'Check the name and the network.'],
  refused: ['the connection was refused or has no route', 'Check that the service is up and reachable from here.'],
  tls_certificate: ['its TLS certificate could not be verified', 'Look at its certificate and who issued it.'],
  tls_name: [
    'its TLS certificate is for another name',
    'Check the name in the URL, or have the service show its own certificate.',
  ],
  tls_dates: [
    'its TLS certificate has ended, or is not valid yet',
    'Check the clock here, and the dates of its certificate.',
  ],
  tls: ['the TLS handshake failed', 'Check that the service speaks TLS 1.2 or newer on this port.'],
  timeout: ['the connection took too long', 'Try again, or check the network.'],
  descriptors: [
    'the proxy of this run may open no more connections',
    'Close some, or raise `ulimit -n` before the run.',
  ],
  reset: ['it closed the connection before it answered', 'Send the request again where that does no harm.'],
  corporate_proxy: [
    'the proxy on the way did not connect',
    'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the shell that started `broker run`.',
  ],
  outer_run: ['the run around this one did not connect', 'Check that the outer `broker run` still runs.'],
  protocol: ['its answer is not well-formed HTTP', 'Report it to the service.'],
}

export function upstreamUnreachable(host: string, problem: UpstreamProblem): Refusal {
  const [what, hint] = PROBLEMS[problem]
  return {
    status: 502,
    error: 'EndpointUnreachableError',
    message: `Cannot reach ${host}: ${what}`,
    hint,
    reason: problem,
  }
}

/** @param issuer as its certificate says, fit to be shown; undefined where nobody knows */
export function unknownAuthority(host: string, issuer: string | undefined): Refusal {
  const by = issuer === undefined ? '' : `: it was issued by "${issuer}"`
  return {
    ...upstreamUnreachable(host, 'tls_certificate'),
    message: `Cannot reach ${host}: its TLS certificate is of an authority that is not trusted here${by}`,
    hint: "Set BROKER_PROXY_CA_FILE to that authority's PEM file, or add it to the system's store, and start the run again.",
  }
}

/** Errors that come of a part being away, not of a decision. */
const OUTAGES: ReadonlySet<ErrorName> = new Set([
  'DaemonUnavailableError',
  'EndpointUnreachableError',
  'RefreshFailedError',
  'RateLimitedError',
  'InternalError',
])

/** The answer to a request whose credential the daemon did not give. */
export function credentialRefused(error: Error, host: string): Refusal {
  const known = error instanceof BrokerError
  const name = known ? error.name : 'InternalError'
  const { hint, provider = '<provider>', retryAfter }: BrokerErrorOptions = known ? error.options : {}
  return {
    status: OUTAGES.has(name) ? 502 : 403,
    error: name,
    message: known ? error.message : `The credential for ${host} could not be resolved`,
    hint: hint ?? HINTS[name]?.replace('<provider>', provider) ?? 'Look at `broker doctor`.',
    reason: reasonWord(name),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

const LOG_IN_AGAIN = 'Log in again with `broker login <provider> --force`, then send the request again.'

const HINTS: Partial<Readonly<Record<ErrorName, string>>> = {
  DaemonUnavailableError: 'Start the daemon with `broker daemon start`, then send the request again.',
  ConnectionNotFoundError: 'Connect the provider with `broker login <provider>`.',
  ProviderNotFoundError: 'Look at `broker provider list`.',
  TokenExpiredError: LOG_IN_AGAIN,
  CredentialMissingError: LOG_IN_AGAIN,
  RefreshFailedError: 'Send the request again later. If that does not help: `broker login <provider> --force`.',
  EndpointUnreachableError: 'Send the request again once the network and the provider’s token endpoint are back.',
}

/** `ConnectionNotFoundError` → `connection_not_found`. */
function reasonWord(name: ErrorName): string {
  const words = name.replace(/Error$/, '').replace(/(?<=[a-z])[A-Z]/g, (capital) => `_${capital}`)
  return words.toLowerCase()
}

/** A stored value that would break the request apart. */
export function credentialInvalid(error: BrokerError): Refusal {
  return {
    status: 502,
    error: error.name,
    message: error.message,
    hint: error.options.hint ?? 'Store the credential again.',
    reason: 'credential_invalid',
  }
}
