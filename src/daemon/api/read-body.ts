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
    request.on('error', reject)
    request.on('close', () =>
      reject(new BrokerError('InvalidRequestError', 'The body ended early', { httpStatus: 400 })),
    )
  })
}

function tooLarge(limit: number): BrokerError {
  return new BrokerError('InvalidRequestError', `The body is larger than ${limit / 1024} KiB`, { httpStatus: 413 })
}

/** What the body says. Undefined where there is none. @throws BrokerError InvalidRequestError (400, 415) */
export function parseBody(bytes: Buffer, mediaType: string | undefined, takesForm: boolean): unknown {
  if (bytes.length === 0) return undefined
  const type = mediaType?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json') return parseJson(textOf(bytes))
  if (takesForm && type === 'application/x-www-form-urlencoded') return parseForm(textOf(bytes))
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
  const fields = [...new URLSearchParams(text)]
  const names = new Set(fields.map(([name]) => name))
  if (names.size !== fields.length || names.has('__proto__')) {
    throw new BrokerError('InvalidRequestError', 'The form has a field twice', { httpStatus: 400 })
  }
  return Object.fromEntries(fields)
}
