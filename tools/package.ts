/**
 * `npm run package [-- <folder>]`: the tarball that `npm i -g` installs, into `dist-package/` or the folder named. Built
 * JavaScript in the layout of the checkout, so that what files find beside themselves is found there, too. The same sources
 * give the same bytes.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { buildInto } from './build.ts'
import { bundleLibraries, fileNameOf } from './package-libraries.ts'
import { isBundled, packageManifest } from './package-manifest.ts'
import { builtSources, importedModules } from './package-sources.ts'
import { root } from './source-files.ts'

const LIMIT = 15_000_000
const COPIED = ['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'bin/broker', 'docs/*.md', 'providers/*.json']

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

const out = resolve(process.argv[2] ?? join(root, 'dist-package'))
const stage = mkdtempSync(join(tmpdir(), 'broker-package-'))
try {
  await fill(stage)
  const packed = pack(stage, out)
  requireExact(packed, stage)
  report(packed, readFileSync(join(out, packed.filename)))
} finally {
  rmSync(stage, { recursive: true, force: true })
}

async function fill(folder: string): Promise<void> {
  const checkout = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const node = JSON.parse(readFileSync(join(root, 'tools/node/package.json'), 'utf8'))
  write(folder, 'package.json', `${JSON.stringify(packageManifest(checkout, node), undefined, 2)}\n`)
  const libraries = importedModules().filter((name) => isBundled(name, checkout))
  const libraryFile = (name: string) => (libraries.includes(name) ? `vendor/${fileNameOf(name)}.js` : undefined)
  for (const { path, text } of builtSources(libraryFile)) write(folder, path, text)
  await bundleLibraries(libraries, join(folder, 'vendor'))
  for (const path of globSync(COPIED, { cwd: root })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(root, path), join(folder, path))
  }
  mkdirSync(join(folder, 'dist'))
  await buildInto(join(folder, 'dist'))
  for (const path of filesOf(folder)) chmodSync(join(folder, path), path === 'bin/broker' ? 0o755 : 0o644)
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

function filesOf(folder: string): readonly string[] {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()
}

/** npm gives every file one and the same time, and no owner. What it compresses with is the pinned Node's. */
function pack(folder: string, destination: string): Packed {
  mkdirSync(destination, { recursive: true })
  const { status, stdout } = spawnSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', destination],
    {
      cwd: folder,
      env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` },
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(`npm pack ended with ${status}`)
  const [packed] = JSON.parse(stdout) as readonly Packed[]
  if (!packed) throw new Error('npm pack made nothing')
  return packed
}

/** Holds that what is in the folder and what `files` lets into the tarball are one and the same. */
function requireExact({ files }: Packed, folder: string): void {
  const inside = new Set(files.map(({ path }) => path))
  const missing = filesOf(folder).filter((path) => !inside.has(path))
  if (missing.length > 0) throw new Error(`\`files\` of package.json leaves out ${missing.join(', ')}`)
}

function report({ filename, size, unpackedSize, files }: Packed, bytes: Uint8Array): void {
  const megabytes = (count: number) => `${(count / 1e6).toFixed(2)} MB`
  process.stdout.write(`${join(out, filename)}\n`)
  process.stdout.write(`${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked, ${files.length} files\n`)
  process.stdout.write(`sha256 ${createHash('sha256').update(bytes).digest('hex')}\n`)
  if (size > LIMIT) throw new Error(`The package has more than ${megabytes(LIMIT)}`)
}
