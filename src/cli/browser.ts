import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { BrokerError } from '../protocol/index.ts'

export interface BrowserOptions {
  /** What the opener is looked up in and gets: `PATH`, `BROWSER`, and what a desktop needs. */
  readonly env: Readonly<Record<string, string>>
  readonly platform?: NodeJS.Platform
}

/**
 * Opens a page in the user's browser, as far as there is one: the caller has printed the address. No shell sees it.
 * @returns whether there was something to open it with
 * @throws BrokerError InvalidRequestError for anything but http and https
 */
export function openInBrowser(url: string, { env, platform = process.platform }: BrowserOptions): Promise<boolean> {
  const page = URL.parse(url)
  if (page?.protocol !== 'http:' && page?.protocol !== 'https:') {
    throw new BrokerError('InvalidRequestError', 'Only http and https pages are opened in the browser')
  }
  const [program, ...args] = opener(env, platform) ?? []
  return program === undefined ? Promise.resolve(false) : start(program, [...args, page.href], env)
}

/** Full path of a program and its first arguments: `BROWSER`, or what the system has for it. */
function opener(env: BrowserOptions['env'], platform: NodeJS.Platform): readonly string[] | undefined {
  const { BROWSER: chosen = '', SystemRoot: windows = 'C:\\Windows' } = env
  if (isProgram(chosen)) return [chosen]
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform === 'win32') return [`${windows}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler']
  const found = ['wslview', 'xdg-open'].flatMap((name) => inPath(env['PATH'] ?? '', name))[0]
  return found === undefined ? undefined : [found]
}

// Never from a relative folder: that is whatever folder the command is called in.
function inPath(path: string, name: string): readonly string[] {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .filter(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return isAbsolute(path)
  } catch {
    return false
  }
}

function start(program: string, args: readonly string[], env: BrowserOptions['env']): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: { ...env }, stdio: 'ignore', detached: true, shell: false })
    child.once('spawn', () => resolve(true))
    child.once('error', () => resolve(false))
    child.unref()
  })
}
