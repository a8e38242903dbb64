import { readFileSync, statSync } from 'node:fs'
import { BrokerError } from '../protocol/index.ts'

const MAX_BYTES = 1024 * 1024

/** A provider definition as it stands in a file; the daemon decides whether it is a good one. */
export interface DefinitionFile {
  readonly name: string
  readonly hosts: readonly string[]
  readonly definition: unknown
}

/** @throws BrokerError InvalidRequestError naming the file, never its content. */
export function readDefinitionFile(path: string): DefinitionFile {
  const definition = parse(path, read(path))
  if (definition === null || typeof definition !== 'object' || Array.isArray(definition)) {
    throw unusable(path, 'it is not a JSON object')
  }
  const { name, hosts } = definition as { readonly name?: unknown; readonly hosts?: unknown }
  return {
    name: typeof name === 'string' ? name : '(no name)',
    hosts: Array.isArray(hosts) ? hosts.map(String) : [],
    definition,
  }
}

function read(path: string): string {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) throw unusable(path, 'it is no file')
    if (stat.size > MAX_BYTES) throw unusable(path, 'it is larger than 1 MiB')
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (cause) {
    if (cause instanceof BrokerError) throw cause
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    throw unusable(path, code === 'ENOENT' ? 'there is no such file' : 'it cannot be read as UTF-8 text', cause)
  }
}

// The parser's message would quote the text, and the text may be the wrong file.
function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unusable(path, 'it is not JSON')
  }
}

function unusable(path: string, why: string, cause?: unknown): BrokerError {
  return new BrokerError('InvalidRequestError', `Cannot register the file "${path}": ${why}`, { cause })
}
