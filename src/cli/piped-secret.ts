import type { Readable } from 'node:stream'
import { BrokerError, Secret } from '../protocol/index.ts'

const MAX_BYTES = 64 * 1024

/**
 * The one line on standard input, without its line end.
 * @throws BrokerError InvalidRequestError where there is nothing, more than one line, or too much; the text is not repeated.
 */
export async function readPipedSecret(input: Readable): Promise<Secret> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk))
    length += chunk.length
    if (length > MAX_BYTES) throw unusable('it is longer than 64 KiB')
  }
  const text = decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  if (text.trim() === '') throw unusable('it is empty')
  if (/[\r\n\0]/.test(text)) throw unusable('it is more than one line')
  return new Secret(text)
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unusable('it is not UTF-8 text')
  }
}

function unusable(why: string): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot use the secret on standard input: ${why}`, {
    hint: 'Pipe it in (`pbpaste | broker login openai`), type it at a terminal, or use --browser.',
  })
}
