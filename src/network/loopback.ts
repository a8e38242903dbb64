const NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]'])

/**
 * Returns whether a host, in lower case, IPv6 with brackets or without, is spelled as this machine and nothing else. `x.localhost` is
 * none: not every resolver keeps it here.
 */
export function isLoopback(host: string): boolean {
  return NAMES.has(host) || /^127(?:\.[0-9]{1,3}){3}$/.test(host)
}

/** The same for one of the three common spellings: definitions, and addresses of one's own servers, have no others. */
export function isCommonLoopback(host: string): boolean {
  return NAMES.has(host)
}
