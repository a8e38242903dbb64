const BROWSERS = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const SYSTEMS = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** `Firefox on Linux`, out of a fixed vocabulary: what a browser says of itself is never stored. */
export function browserName(userAgent = ''): string {
  const [, browser = 'A browser'] = BROWSERS.find(([pattern]) => pattern.test(userAgent)) ?? []
  const [, system] = SYSTEMS.find(([pattern]) => pattern.test(userAgent)) ?? []
  return system === undefined ? browser : `${browser} on ${system}`
}
