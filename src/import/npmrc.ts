import { Secret } from '../protocol/index.ts'
import type { HostKeys } from './host-keys.ts'

/** The token of the public registry in an .npmrc; the last one counts, as npm reads it. */
export function npmrcKeys(text: string): HostKeys {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim())
  const section = lines.findIndex((line) => line.startsWith('['))
  const token = lines
    .slice(0, section === -1 ? undefined : section)
    .flatMap((line) => tokenIn(line) ?? [])
    .at(-1)
  if (!token) return { keys: new Map() }
  if (!token.includes('${')) return { keys: new Map([['registry.npmjs.org', new Secret(token)]]) }
  return { keys: new Map(), elsewhere: ['it has npm take the token from an environment variable'] }
}

function tokenIn(line: string): string | undefined {
  const [key = '', ...rest] = line.split('=')
  return /^\/\/registry\.npmjs\.org\/?:_authToken$/.test(key.trimEnd()) ? bare(rest.join('=').trimStart()) : undefined
}

function bare(value: string): string {
  const [, double, single] = /^(?:"([^"]*)"|'([^']*)')$/.exec(value) ?? []
  return double ?? single ?? (value.split(/[;#]/, 1)[0] ?? '').trimEnd()
}
