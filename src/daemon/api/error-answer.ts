import type * as z from 'zod'
import { BrokerError, CHANNEL_PROTOCOL, type ErrorBody, type ErrorDetail, httpStatusOf } from '../../protocol/index.ts'

export interface ErrorAnswer {
  readonly status: number
  readonly body: ErrorBody
  readonly headers: Readonly<Record<string, string>>
}

/** The one place that turns an error into an answer (contract section 3). What is no BrokerError tells nothing. */
export function errorAnswer(error: unknown, requestId: string): ErrorAnswer {
  const known = error instanceof BrokerError ? error : internal()
  const { hint, provider, connection, details, claimUrl, retryAfter } = known.options
  const status = known.options.httpStatus ?? httpStatusOf[known.name]
  return {
    status,
    body: {
      error: known.name,
      message: known.message,
      request_id: requestId,
      ...(provider !== undefined && { provider }),
      ...(connection !== undefined && { connection }),
      ...(hint !== undefined && { hint }),
      ...(details !== undefined && { details }),
      ...(claimUrl !== undefined && { claim_url: claimUrl }),
    },
    headers: {
      ...(status === 401 && { 'www-authenticate': 'PoP' }),
      ...(status === 426 && { upgrade: CHANNEL_PROTOCOL, connection: 'Upgrade' }),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
  }
}

function internal(): BrokerError {
  return new BrokerError('InternalError', 'Something went wrong in the daemon', {
    hint: 'The daemon log has the cause under this request id: broker daemon logs',
  })
}

/** Names each field that does not fit, without repeating what was in it. */
export function invalidInput(error: z.ZodError, at: string): BrokerError {
  const details = error.issues.flatMap((issue) => detailsOf(issue, at)).slice(0, 50)
  const [first] = details
  const where = first && first.path !== '' ? `"${first.path}" ` : ''
  return new BrokerError('InvalidRequestError', `The ${at} is not valid: ${where}${first?.message ?? ''}`.trim(), {
    details,
  })
}

// A name is repeated only where it looks like one: somebody may have put a secret in its place.
const NAME = /^[a-z][a-z_]{0,31}$/

function detailsOf(issue: z.core.$ZodIssue, at: string): readonly ErrorDetail[] {
  const path = issue.path.map((part) => (typeof part === 'number' || NAME.test(String(part)) ? String(part) : '?'))
  if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: messageOf(issue, at) }]
  return issue.keys.map((key) => ({
    path: [...path, NAME.test(key) ? key : '?'].join('.'),
    message: 'is not known here',
  }))
}

function messageOf(issue: z.core.$ZodIssue, at: string): string {
  if (issue.code === 'invalid_type')
    return `must be ${issue.expected === 'int' ? 'an integer' : `of type ${issue.expected}`}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`
  if (issue.code === 'invalid_format' && issue.message.startsWith('must')) return issue.message
  if (issue.code === 'custom') return issue.message
  return at === 'query' ? 'is not a value this parameter takes' : 'is not a value this field takes'
}
