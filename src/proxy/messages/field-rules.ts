const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'te'])

/** Fields that concern one leg only (RFC 9110 section 7.6.1) and are never passed on. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name) || name.startsWith('proxy-')
}

const NEVER_IN_TRAILERS = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'host',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Names that no trailer may carry: framing, routing, and what a server could take for a credential. */
export function isForbiddenTrailer(name: string, credentialNames: ReadonlySet<string>): boolean {
  const spelled = name.replaceAll('_', '-')
  return NEVER_IN_TRAILERS.has(spelled) || spelled.startsWith('proxy-') || credentialNames.has(spelled)
}

const FRAMING_NAMES = new Set(['content-length', 'transfer-encoding', 'host', 'connection', 'upgrade', 'expect'])

/** Tells whether CGI-like servers read it as a field that frames the message, or says where it goes. */
export function isUnderscored(name: string): boolean {
  return name.includes('_') && FRAMING_NAMES.has(name.replaceAll('_', '-'))
}
