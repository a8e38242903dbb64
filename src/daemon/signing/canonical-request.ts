import { withoutOptionalSpace } from '../../protocol/index.ts'

/** The form of a request that both sides hash (AWS Signature Version 4, "Create a canonical request"). */
export interface CanonicalRequest {
  readonly text: string
  /** Names in lower case, as they go into `SignedHeaders`. */
  readonly signedHeaders: string
}

export interface Header {
  readonly name: string
  readonly value: string
}

export interface RequestToSign {
  readonly method: string
  /** As it is on the wire: escaped once; bytes above ASCII as the characters of the same number. */
  readonly path: string
  /** As it is on the wire, without its question mark. */
  readonly query: string
  readonly headers: readonly Header[]
  readonly payload: string
  readonly service: string
}

export function canonicalRequest(request: RequestToSign): CanonicalRequest {
  const headers = canonicalHeaders(request.headers)
  const signedHeaders = headers.map(([name]) => name).join(';')
  const text = [
    request.method,
    canonicalPath(request.path, request.service),
    canonicalQuery(request.query),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    signedHeaders,
    request.payload,
  ].join('\n')
  return { text, signedHeaders }
}

/** Their keys are paths: what looks like a step up, or is written twice, is part of the name. */
const TAKES_PATHS_AS_THEY_ARE: ReadonlySet<string> = new Set(['s3', 's3express', 's3-object-lambda', 's3-outposts'])

function canonicalPath(path: string, service: string): string {
  if (TAKES_PATHS_AS_THEY_ARE.has(service)) return inNormalForm(path, '/')
  return escaped(withoutDotSegments(path), '/')
}

function withoutDotSegments(path: string): string {
  const kept: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`
}

function canonicalQuery(query: string): string {
  const parameters = query.split('&').filter((parameter) => parameter !== '')
  return parameters
    .map((parameter) => {
      const at = parameter.indexOf('=')
      const [name, value] = at < 0 ? [parameter, ''] : [parameter.slice(0, at), parameter.slice(at + 1)]
      return [inNormalForm(asSpace(name)), inNormalForm(asSpace(value))] as const
    })
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** In a query a plus is a space. */
function asSpace(text: string): string {
  return text.replaceAll('+', '%20')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function canonicalHeaders(headers: readonly Header[]): readonly (readonly [name: string, value: string])[] {
  const byName = new Map<string, string>()
  for (const { name, value } of headers) {
    const key = name.toLowerCase()
    const plain = withoutOptionalSpace(value).replace(/ +/g, ' ')
    const before = byName.get(key)
    byName.set(key, before === undefined ? plain : `${before},${plain}`)
  }
  return [...byName].toSorted(([a], [b]) => compare(a, b))
}

/** Every byte that is not unreserved (RFC 3986 section 2.3), nor `kept`, as `%XX`. */
function escaped(text: string, kept = ''): string {
  return text.replace(/[^A-Za-z0-9._~-]/g, (character) => (character === kept ? character : escapeOf(character)))
}

/** The same where text is escaped already: escapes stay, in upper case, but for those that nothing needs. */
function inNormalForm(text: string, kept = ''): string {
  return text.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~-]/g, (part) => {
    if (part.length === 1) return part === kept ? part : escapeOf(part)
    const character = String.fromCharCode(Number.parseInt(part.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : part.toUpperCase()
  })
}

function escapeOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}
