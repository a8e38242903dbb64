import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import { type Field, isForbiddenTrailer, isHopByHop, isUnderscored } from '../messages/index.ts'
import { http2 } from './node-http2.ts'

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const VALUE = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/

/** A header section as it was received: pseudo-header fields, and the others in their order. */
export interface Section {
  readonly pseudo: ReadonlyMap<string, string>
  readonly fields: readonly Field[]
}

/** Reads a section by the grammar of HTTP/1.1, so that it can be written in both versions; undefined where it breaks that. */
export function sectionOf(raw: readonly string[], headers: IncomingHttpHeaders): Section | undefined {
  const kept = new Set(neverIndexedIn(headers))
  const pseudo = new Map<string, string>()
  const fields: Field[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]]
    if (!VALUE.test(value)) return undefined
    if (name.startsWith(':')) {
      if (pseudo.has(name)) return undefined
      pseudo.set(name, value)
    } else if (!NAME.test(name) || isUnderscored(name)) return undefined
    else fields.push(kept.has(name) ? { name, value, neverIndexed: true } : { name, value })
  }
  return { pseudo, fields }
}

/** The list of names and values that `node:http2` sends; those in `secret` are never indexed. */
export function listOf(
  pseudo: readonly (readonly [string, string])[],
  fields: readonly Field[],
  secret: ReadonlySet<string>,
): string[] {
  const list = [...pseudo.flat(), ...fields.flatMap(({ name, value }) => [name, value])]
  const kept = fields.filter(({ name, neverIndexed }) => neverIndexed || secret.has(name.replaceAll('_', '-')))
  const names = [...kept.map(({ name }) => name), ...[...secret].filter((name) => name.startsWith(':'))]
  if (names.length > 0) Object.assign(list, { [http2().sensitiveHeaders]: names })
  return list
}

/** Fields as `node:http2` takes trailers and interim answers: several of one name side by side. */
export function byName(fields: readonly Field[]): OutgoingHttpHeaders {
  const named: Record<string, string[]> = Object.create(null)
  for (const { name, value } of fields) named[name] = [...(named[name] ?? []), value]
  return named
}

/** What may pass of a trailer section. */
export function allowedTrailers(raw: readonly string[], credentialNames: ReadonlySet<string>): readonly Field[] {
  const fields = sectionOf(raw, {})?.fields ?? []
  return fields.filter(({ name }) => !isForbiddenTrailer(name, credentialNames) && !isConnectionSpecific(name))
}

const CONNECTION_SPECIFIC = new Set(['upgrade', 'transfer-encoding', 'http2-settings'])

/** Fields that HTTP/2 has no place for (RFC 9113 section 8.2.2), or that concern one leg. */
export function isConnectionSpecific(name: string): boolean {
  return isHopByHop(name) || CONNECTION_SPECIFIC.has(name)
}

function neverIndexedIn(headers: IncomingHttpHeaders): readonly string[] {
  return (headers as { readonly [key: symbol]: readonly string[] | undefined })[http2().sensitiveHeaders] ?? []
}
