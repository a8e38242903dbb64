import type { Readable } from 'node:stream'
import { BrokerError, parseStrictJson, Secret } from '../protocol/index.ts'
import type { Field } from '../schemas/index.ts'

const MAX_BYTES = 64 * 1024

/**
 * What is on standard input: one line, without its line end, or the text of a whole file.
 * @throws BrokerError InvalidRequestError where there is nothing, more than one line, or too much; the text is not repeated.
 */
export async function readPipedSecret(
  input: Readable,
  form: 'line' | 'file' = 'line',
  hint = LOGIN_HINT,
): Promise<Secret> {
  const whole = await readText(input)
  const text = form === 'line' ? whole.replace(/\r?\n$/, '') : whole
  if (text.trim() === '') throw unusable('it is empty', hint)
  if (form === 'line' && /[\r\n\0]/.test(text)) throw unusable('it is more than one line', hint)
  return new Secret(text)
}

/**
 * Values by field name, as a JSON object on standard input.
 * @throws BrokerError InvalidRequestError where it is none; the text is not repeated.
 */
export async function readPipedFields(
  input: Readable,
  fields: readonly Field[],
): Promise<Readonly<Record<string, Secret>>> {
  const names = fields.map(({ name, required }) => (required ? `"${name}"` : `"${name}" if there is one`)).join(', ')
  const values = Object.entries(parseObject(await readText(input)) ?? {})
  if (values.length === 0 || values.some(([, value]) => typeof value !== 'string')) {
    throw new BrokerError(
      'InvalidRequestError',
      'Cannot use what is on standard input: it is no JSON object of texts',
      {
        hint: `Pipe in {${names}}, log in at a terminal, or use --browser.`,
      },
    )
  }
  return Object.fromEntries(values.map(([name, value]) => [name, new Secret(String(value))]))
}

function parseObject(text: string): object | undefined {
  try {
    const value = parseStrictJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

async function readText(input: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk))
    length += chunk.length
    if (length > MAX_BYTES) throw unusable('it is longer than 64 KiB')
  }
  return decode(Buffer.concat(chunks))
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unusable('it is not UTF-8 text')
  }
}

const LOGIN_HINT = 'Pipe it in (`pbpaste | broker login openai`), type it at a terminal, or use --browser.'

function unusable(why: string, hint = LOGIN_HINT): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot use the secret on standard input: ${why}`, { hint })
}
