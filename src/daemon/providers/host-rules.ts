import { parse as parseDomain } from 'tldts'
import {
  formatPattern,
  type HostPattern,
  isAmazon,
  isCommonLoopback,
  readPattern,
  splitPattern,
} from '../../network/index.ts'
import { DEFAULT_PORT } from '../../protocol/index.ts'

export type ParsedHost = { readonly pattern: HostPattern } | { readonly problem: string }

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** Suffixes below which strangers get names, beyond those of the public suffix list. */
const SHARED_SUFFIXES: ReadonlySet<string> = new Set([
  'amazonaws.com',
  'amazonaws.com.cn',
  'azure.com',
  'azure-api.net',
  'azurefd.net',
  'firebaseio.com',
  'loca.lt',
  'modal.run',
  'pipedream.net',
  'requestcatcher.com',
  'tumblr.com',
  'tunnelto.dev',
  'webhook.site',
  'wordpress.com',
  'cloudapp.net',
  'fastly.net',
  'googleapis.com',
  'googleusercontent.com',
  'ngrok.io',
  'windows.net',
])

/**
 * Contract section 8: what a host of a definition may be. `problem` says what it must be, never what it was.
 * @param credential `signature` where nothing that goes there could be used for another request: then a stranger's host
 *   may be meant, and a second label be a wildcard (`*.s3.*.amazonaws.com`)
 */
export function parseHostPattern(text: string, credential: 'any' | 'signature' = 'any'): ParsedHost {
  const parsed = parseWritten(text, credential)
  if ('pattern' in parsed) return parsed
  const meant = meantHost(text)
  const isMeant = meant !== undefined && meant.host !== text && 'pattern' in parseWritten(meant.host, credential)
  return isMeant ? { problem: `${meant.rule}: write "${meant.host}"` } : parsed
}

function parseWritten(text: string, credential: 'any' | 'signature'): ParsedHost {
  const { host, port, path } = splitPattern(text)
  const problem = problemOfPort(port) ?? problemOfHost(host, port, credential) ?? problemOfPath(path)
  return problem === undefined ? { pattern: readPattern(text) } : { problem }
}

// Without user, password, query and fragment: a secret that was pasted along is not repeated.
const PASTED = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^/@?#]*@)?([^/@?#]+)(\/[^?#]*)?(?:[?#].*)?$/i

// A longer one may be a secret, as those of webhooks are.
const PLAIN_SEGMENT = /^[A-Za-z0-9._~-]{1,16}$/

/** Returns what somebody meant who pasted the address of a page, or wrote a host in another way than definitions do. */
function meantHost(text: string): { readonly host: string; readonly rule: string } | undefined {
  const [, scheme, authority = '', path = ''] = PASTED.exec(text) ?? []
  if (authority === '' || (scheme !== undefined && !/^(?:https?|wss?)$/i.test(scheme))) return undefined
  const name = authority
    .toLowerCase()
    .replace(/:443$/, '')
    .replace(/\.(?=$|:\d)/, '')
  const segments = path.split('/').filter((part) => part !== '' && part !== '*')
  if (!segments.every((segment) => PLAIN_SEGMENT.test(segment))) return undefined
  const host = `${name}${segments.length === 0 ? '' : `/${segments.join('/')}/*`}`
  if (scheme !== undefined) return { host, rule: 'must be a host, not a URL' }
  if (path !== '' && path !== '/') return { host, rule: 'must be a host, or one with a path that ends in "/*"' }
  return { host, rule: 'must be a host in lower case, without a "." or "/" at its end' }
}

function problemOfPort(port: string | undefined): string | undefined {
  if (port === undefined) return undefined
  if (!/^[1-9][0-9]{0,4}$/.test(port) || Number(port) > 65_535) return 'must have a port from 1 to 65535, or none'
  return undefined
}

function problemOfHost(host: string, port: string | undefined, credential: 'any' | 'signature'): string | undefined {
  if (isCommonLoopback(host)) return problemOfLoopbackPort(port)
  return problemOfName(host) ?? (credential === 'any' ? problemOfWildcard(host) : problemOfSignedWildcards(host))
}

function problemOfLoopbackPort(port: string | undefined): string | undefined {
  if (port === undefined) return 'must name the port of a loopback host'
  return Number(port) === DEFAULT_PORT ? "must not be the daemon's own port" : undefined
}

/** A DNS name in lower case, of two labels or more, that no resolver takes for an address. */
export function problemOfName(host: string): string | undefined {
  const labels = host.split('.')
  if (host.length > 253 || !labels.every((label) => label === '*' || LABEL.test(label)))
    return 'must be a host name in lower-case ASCII letters, digits, "-" and "."; a wildcard is "*" for one whole label'
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return 'must be a name, not an address'
  if (labels.length < 2) return 'must be a full name with a domain'
  return undefined
}

function problemOfWildcard(host: string): string | undefined {
  if (!host.includes('*')) return undefined
  if (host.split('*').length > 3) return 'must have at most two "*"'
  if (/\*\.\*/.test(host)) return 'must have a label between two "*"'
  const isRegion = !isAmazon(host) || host.endsWith('*.amazonaws.com')
  return isShared(host) || !isRegion ? 'must not have a "*" where strangers get names' : undefined
}

function problemOfSignedWildcards(host: string): string | undefined {
  if (host.split('*').length > 3) return 'must have at most two "*"'
  const last = host.slice(host.lastIndexOf('*'))
  return last.startsWith('*') && isPublic(last, 'of registries only')
    ? 'must not have a "*" where strangers get names'
    : undefined
}

/** Returns whether the wildcard stands for a name that anyone can have: on a public suffix, or left of a shared one. */
function isShared(host: string): boolean {
  const isDouble = host.indexOf('*') !== host.lastIndexOf('*')
  const suffix = host.slice((isDouble ? host.lastIndexOf('*') : 0) + '*.'.length)
  return SHARED_SUFFIXES.has(suffix) || isPublic(host, 'with private suffixes')
}

/** Returns whether the wildcard is part of the registrable domain or of the suffix itself. */
export function isPublic(host: string, suffixes: 'with private suffixes' | 'of registries only'): boolean {
  const { domain } = parseDomain(host.replaceAll('*', 'x'), {
    allowPrivateDomains: suffixes === 'with private suffixes',
    validateHostname: false,
  })
  const fixedBehindWildcard = host.slice(host.lastIndexOf('*') + 2)
  return domain === null || domain.length > fixedBehindWildcard.length
}

function problemOfPath(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  if (!/^(?:\/[A-Za-z0-9._~!$&'()+,;=:@-]+)*\/\*$/.test(path) || /\/\.{1,2}\//.test(path))
    return 'must have a plain path that ends in "/*", or none'
  return undefined
}

/** Returns whether this is the pattern that a valid definition writes like that. */
export function isWrittenAs(pattern: HostPattern, text: string): boolean {
  const parsed = parseHostPattern(text)
  return formatPattern(pattern) === ('pattern' in parsed ? formatPattern(parsed.pattern) : text)
}
