import type { Readable } from 'node:stream'
import { BrokerError, parseStrictJson, Secret } from '../protocol/index.ts'
import type { Field } from '../schemas/index.ts'

const MAX_BYTES = 64 * 1024

export type PipedInput = Readable & { readonly isTTY?: boolean }

/**
 * Returns what is on standard input: one line, without its line ends, or the text of a whole file.
 * @throws BrokerError InvalidRequestError where there is nothing, more than one line, or too much; the text is not repeated.
 */
export async function readPipedSecret(
  input: PipedInput,
  form: 'line' | 'file' = 'line',
  hint = LOGIN_HINT,
): Promise<Secret> {
  return secretOf(await readText(input, hint), form, hint)
}

/**
 * The value of one field: alone, or by its name as {@link readPipedFields} takes it. An object in place of one line is never
 * the value itself.
 * @throws BrokerError as those two
 */
export async function readPipedField(
  input: PipedInput,
  { name, multiline }: Pick<Field, 'name' | 'multiline'>,
): Promise<Readonly<Record<string, Secret>>> {
  const text = await readText(input, LOGIN_HINT)
  if (!multiline && parseObject(text)) return fieldsOf(text, LOGIN_HINT)
  return { [name]: secretOf(text, multiline ? 'file' : 'line', LOGIN_HINT) }
}

function secretOf(whole: string, form: 'line' | 'file', hint: string): Secret {
  const text = form === 'line' ? whole.replace(/[\r\n]+$/, '') : whole
  if (text.trim() === '') throw unusable('it is empty', hint)
  if (form === 'line' && /[\r\n\0]/.test(text)) throw unusable('it is more than one line', hint)
  return new Secret(text)
}

/**
 * Values by field name, as a JSON object on standard input.
 * @throws BrokerError InvalidRequestError where it is none; the text is not repeated.
 */
export async function readPipedFields(input: PipedInput, hint: string): Promise<Readonly<Record<string, Secret>>> {
  return fieldsOf(await readText(input, hint), hint)
}

function fieldsOf(text: string, hint: string): Readonly<Record<string, Secret>> {
  if (text.trim() === '') throw unusable('it is empty', hint)
  const values = Object.entries(parseObject(text) ?? {})
  if (values.length === 0 || values.some(([, value]) => typeof value !== 'string')) {
    throw unusable('it is no JSON object of texts', hint)
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

async function readText(input: PipedInput, hint: string): Promise<string> {
  // Whatever was typed would show.
  if (input.isTTY)
    throw unusable('it is a terminal, where a secret would show, and standard error is none to ask at', hint)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk))
    length += chunk.length
    if (length > MAX_BYTES) throw unusable('it is longer than 64 KiB', hint)
  }
  return decode(Buffer.concat(chunks), hint)
}

function decode(bytes: Buffer, hint: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw unusable('it is not UTF-8 text', hint)
  }
}

const LOGIN_HINT = 'Pipe it in (`pbpaste | broker login openai`), type it at a terminal, or use --browser.'

function unusable(why: string, hint: string): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot use what is on standard input: ${why}`, { hint })
}
