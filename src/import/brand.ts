import { parse as parseDomain } from 'tldts'

/** Whose a host is, by name: `vercel` for vercel.com and for acme.vercel.app; the host where it has no such name. */
export function brandOf(host: string): string {
  const options = { allowPrivateDomains: false, validateHostname: false }
  return parseDomain(host.replaceAll('*', 'x'), options).domainWithoutSuffix || host
}
