import type { IncomingMessage } from 'node:http'
import { BrokerError, parseStrictJson, StrictJsonError } from '../../protocol/index.ts'

const EMPTY = Buffer.alloc(0)

/** The raw bytes of the body. @throws BrokerError InvalidRequestError (413) once there are more than `limit`. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const { headers } = request
  const announced = Number(headers['content-length'] ?? 0)
  if (announced > limit) return Promise.reject(tooLarge(limit))
  if (announced === 0 && headers['transfer-encoding'] === undefined) return Promise.resolve(EMPTY)
  return collect(request, limit)
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size > limit) {
        request.removeAllListeners('data')
        reject(tooLarge(limit))
      }
    })
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks)))
    const endedEarly = () => reject(new BrokerError('InvalidRequestError', 'The body ended early', { httpStatus: 400 }))
    request.on('error', endedEarly)
    // It closes after each request: the error, stack and all, is made only where one is needed.
    request.on('close', () => {
      if (!request.complete) endedEarly()
    })
  })
}

function tooLarge(limit: number): BrokerError {
  return new BrokerError('InvalidRequestError', `The body is larger than ${limit / 1024} KiB`, { httpStatus: 413 })
}

export const FORM = 'application/x-www-form-urlencoded'

/** Without its parameters, in lower case; empty where there is none. */
export function mediaTypeOf({ headers }: IncomingMessage): string {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** Returns what the body says. Undefined where there is none. @throws BrokerError InvalidRequestError (400, 415) */
export function parseBody(bytes: Buffer, type: string, takesForm: boolean): unknown {
  if (bytes.length === 0) return undefined
  if (type === 'application/json') return parseJson(textOf(bytes))
  if (takesForm && type === FORM) return parseForm(textOf(bytes))
  throw new BrokerError('InvalidRequestError', 'The body must be application/json', { httpStatus: 415 })
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new BrokerError('InvalidRequestError', 'The body is not UTF-8', { httpStatus: 400 })
  }
}

function parseJson(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw new BrokerError('InvalidRequestError', `The body ${error.message}`, { httpStatus: 400 })
  }
}

function parseForm(text: string): Record<string, string> {
  const form = singleFields(new URLSearchParams(text))
  if (form) return form
  throw new BrokerError('InvalidRequestError', 'The form has a field twice', { httpStatus: 400 })
}

/** Fields by name; undefined where one is given twice, or has a name that no object may have. */
export function singleFields(parameters: URLSearchParams): Record<string, string> | undefined {
  const fields = [...parameters]
  const names = new Set(fields.map(([name]) => name))
  return names.size === fields.length && !names.has('__proto__') ? Object.fromEntries(fields) : undefined
}
