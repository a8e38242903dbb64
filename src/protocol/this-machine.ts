const NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]'])

/** Whether a host, in lower case, is one of the three names of loopback; IPv6 as in a URL, or without its brackets. */
export function isThisMachine(host: string): boolean {
  return NAMES.has(host)
}
