import { BrokerError, type ErrorBody, isErrorName } from '../protocol/index.ts'
import type { Answer } from './transport.ts'

/** The error a non-2xx answer tells (contract section 3), or undefined where it is not one of the daemon's. */
export function errorOf({ status, headers, text }: Answer): BrokerError | undefined {
  const body = parseErrorBody(text)
  if (!body) return undefined
  const { error, message, hint, provider, connection, details, claim_url } = body
  const retryAfter = Number(headers['retry-after'])
  return new BrokerError(error, message, {
    httpStatus: status,
    ...(hint && { hint }),
    ...(provider && { provider }),
    ...(connection && { connection }),
    ...(details && { details }),
    ...(claim_url && { claimUrl: claim_url }),
    ...(Number.isFinite(retryAfter) && { retryAfter }),
  })
}

function parseErrorBody(text: string): ErrorBody | undefined {
  const body = parseJson(text)
  const isError =
    body !== null &&
    typeof body === 'object' &&
    'error' in body &&
    isErrorName(body.error) &&
    'message' in body &&
    typeof body.message === 'string'
  return isError ? (body as ErrorBody) : undefined
}

/** Undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
