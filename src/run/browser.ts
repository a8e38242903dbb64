import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findProgram, isExecutable } from './find-program.ts'

/** Browsers built on Chromium, in the order in which one is looked for. */
const PROGRAMS = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'chrome',
  'brave-browser',
  'microsoft-edge',
  'vivaldi',
]

/** Returns whether the command is a browser that takes Chromium's options. */
export function isBrowser(file: string): boolean {
  return PROGRAMS.includes(basename(file))
}

export interface BrowserSurroundings {
  /** Port of the listener without credentials: a browser asks a person for them. */
  readonly openPort: number
  /** base64 of the SHA-256 of the key that the run's certificates are for. */
  readonly keyPin: string
  /** The child's NO_PROXY. */
  readonly noProxy: string
}

/**
 * Options for a browser that goes through the proxy and takes the run's certificates: browsers read neither the proxy's
 * credentials nor an authority from the environment. What comes after them on the command line counts for more.
 */
export function browserOptions({ openPort, keyPin, noProxy }: BrowserSurroundings): readonly string[] {
  return [
    `--proxy-server=http://127.0.0.1:${openPort}`,
    `--proxy-bypass-list=${noProxy.replaceAll(',', ';')}`,
    `--ignore-certificate-errors-spki-list=${keyPin}`,
    '--no-first-run',
    '--disable-quic',
  ]
}

/** Variables in which programs that start a browser look for it. */
const BROWSER_VARIABLES = [
  'CHROME_PATH',
  'CHROME_BIN',
  'PUPPETEER_EXECUTABLE_PATH',
  'PLAYWRIGHT_MCP_EXECUTABLE_PATH',
  'BROWSER_PATH',
]

/**
 * Puts a program into the run's folder that starts the browser with these options, and names it to programs that start
 * browsers. Undefined where there is no browser.
 */
export function browserLauncher(
  options: readonly string[],
  folder: string,
  inherited: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const browser = findBrowser(inherited)
  if (browser === undefined) return undefined
  const launcher = join(folder, 'browser.sh')
  const words = [browser, ...options].map(quoted)
  // Two browsers cannot share a profile.
  const profile = `--user-data-dir="$(mktemp -d ${quoted(join(folder, 'browser-XXXXXX'))})"`
  writeFileSync(launcher, `#!/bin/sh\nexec ${words.join(' ')} ${profile} "$@"\n`, { mode: 0o700, flag: 'wx' })
  return Object.fromEntries(BROWSER_VARIABLES.map((name) => [name, launcher]))
}

function findBrowser(inherited: Readonly<Record<string, string>>): string | undefined {
  const named = BROWSER_VARIABLES.map((name) => inherited[name]).find(
    (path) => path !== undefined && isExecutable(path),
  )
  return named ?? findProgram(PROGRAMS, inherited)
}

/** As one word of a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
