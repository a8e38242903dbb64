import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { StreamReply } from './route.ts'

export interface StreamOptions {
  /** Ends the answer early. */
  readonly signal: AbortSignal
  /** Hears of what went wrong behind the head, where no caller can be told any more. */
  readonly onFailure: (error: unknown) => void
  /** How long a caller may take nothing of what there is: a minute. */
  readonly patience?: number
}

const PATIENCE = 60_000

/**
 * Sends an answer as it is made, no faster than it is read. Resolves when its head is sent.
 * @throws what the first chunk throws: until then there is a status to say it with
 */
export async function streamAnswer(
  response: ServerResponse,
  { headers, chunks }: StreamReply,
  { signal, onFailure, patience = PATIENCE }: StreamOptions,
): Promise<void> {
  // Of an answer to HEAD nothing is sent but its head.
  if (response.req.method === 'HEAD') {
    response.writeHead(200, headers).end()
    return
  }
  const left = new AbortController()
  response.once('close', () => left.abort())
  const gone = AbortSignal.any([signal, left.signal])
  const parts = chunks(gone)[Symbol.asyncIterator]()
  const first = await parts.next()
  response.writeHead(200, headers)
  response.flushHeaders()
  response.setTimeout(patience, () => response.destroy())
  pipeline(Readable.from(rest(first, parts, onFailure)), response, { signal: gone })
    .catch(() => response.destroy())
    .finally(() => parts.return?.())
}

async function* rest(
  first: IteratorResult<string>,
  parts: AsyncIterator<string>,
  onFailure: StreamOptions['onFailure'],
): AsyncGenerator<string> {
  for (let part = first; !part.done; part = await next(parts, onFailure)) yield part.value
}

async function next(parts: AsyncIterator<string>, onFailure: StreamOptions['onFailure']) {
  try {
    return await parts.next()
  } catch (error) {
    onFailure(error)
    throw error
  }
}
