import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { binaryFolders, type NodeVersion, nodeVersions, type PackageSet, packageSets } from './packages.ts'

const run = promisify(execFile)

/** Where clients are kept between runs: never in the checkout. */
export const cacheFolder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'broker-clients')

const MINUTE = 60_000

/** Folder with the `node_modules` of the set; installed where it is not there yet. Rejects where npm cannot. */
export function installedSet(set: PackageSet): Promise<string> {
  return installedPackages(set, packageSets[set])
}

/** Folder with the programs of the set. */
export async function installedPrograms(set: PackageSet): Promise<string> {
  return join(await installedSet(set), 'node_modules', binaryFolders[set] ?? '.bin')
}

/** Folder with this version of Node in it, as `node`. */
export async function installedNode(version: NodeVersion): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`
  const folder = await installedPackages(`node ${version}`, { [name]: nodeVersions[version] })
  return join(folder, 'node_modules', name, 'bin')
}

function installedPackages(name: string, dependencies: Readonly<Record<string, string>>): Promise<string> {
  return kept(name, dependencies, async (folder) => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
    const patience = ['--fetch-retries=1', '--fetch-timeout=60000']
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', ...quiet, ...patience], { cwd: folder, timeout: 10 * MINUTE }).catch((cause) => {
      throw new Error(`npm could not install ${name}`, { cause })
    })
  })
}

/** Folder with these packages of Python's. Where no index can be reached it rejects soon. */
export function installedWheels(wheels: readonly string[]): Promise<string> {
  return kept('python', wheels, async (folder) => {
    const args = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-input',
      '--only-binary',
      ':all:',
    ]
    const patience = ['--retries', '0', '--timeout', '15', '--target', folder]
    await run('/usr/bin/python3', [...args, ...patience, ...wheels], { timeout: 3 * MINUTE }).catch((cause) => {
      throw new Error(`no index of Python packages gave ${wheels.join(', ')}`, { cause })
    })
  })
}

const going = new Map<string, Promise<string>>()

/** A folder of this content, made once and whole: under another name until it is done. */
function kept(name: string, content: unknown, fill: (folder: string) => Promise<unknown>): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 12)
  const folder = join(cacheFolder, `${name.replaceAll(' ', '-')}-${hash}`)
  const known = going.get(folder)
  if (known !== undefined) return known
  const made = existsSync(folder) ? Promise.resolve(folder) : filled(folder, fill)
  going.set(folder, made)
  return made
}

async function filled(folder: string, fill: (folder: string) => Promise<unknown>): Promise<string> {
  mkdirSync(cacheFolder, { recursive: true })
  const unfinished = mkdtempSync(join(cacheFolder, '.unfinished-'))
  try {
    await fill(unfinished)
    if (!existsSync(folder)) renameSync(unfinished, folder)
    return folder
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}
