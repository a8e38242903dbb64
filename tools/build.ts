/**
 * `npm run build`: the dashboard, from its sources to the files that the daemon serves, and what the page of the API's
 * description loads, each with a compressed one beside it. The command line does this by itself before it starts a daemon
 * of a checkout that has none.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'vite'
import { root } from './source-files.ts'

/** Of the package `swagger-ui-dist`: two files, and the licences of what is in them. */
const API_DOCS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE']

if (import.meta.main) {
  const out = join(root, 'dist')
  // Beside its place, so that it gets there whole: a daemon may be serving the one before.
  const fresh = mkdtempSync(join(root, '.dist-'))
  try {
    const { plain, compressed } = await buildInto(fresh)
    replace(out, fresh)
    process.stdout.write(`built: ${kilobytes(plain)} kB, ${kilobytes(compressed)} kB compressed, in dist/\n`)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Builds into an empty folder; how many bytes its files have, and those that are compressed. */
export async function buildInto(folder: string): Promise<{ readonly plain: number; readonly compressed: number }> {
  await build({
    root: join(root, 'src/dashboard'),
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsDir: 'dashboard',
      // A picture inside the document would need a wider policy.
      assetsInlineLimit: 0,
      license: { fileName: 'dashboard/LICENSES.md' },
      modulePreload: { polyfill: false },
      rolldownOptions: {
        output: { entryFileNames: 'dashboard/[name]-[hash].js', assetFileNames: 'dashboard/[name]-[hash][extname]' },
      },
    },
  })
  mkdirSync(join(folder, 'api-docs'))
  for (const name of API_DOCS)
    copyFileSync(join(root, 'node_modules/swagger-ui-dist', name), join(folder, 'api-docs', name))
  // A temporary folder is its maker's alone; a daemon of somebody else may serve this one.
  chmodSync(folder, 0o755)
  return compress(folder)
}

function compress(folder: string): { readonly plain: number; readonly compressed: number } {
  let [plain, compressed] = [0, 0]
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(?:js|css|svg)$/.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    // The last steps take seconds for the larger files, and a person may wait.
    const small = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
    writeFileSync(`${path}.br`, small)
    plain += bytes.length
    compressed += small.length
  }
  return { plain, compressed }
}

/** Of two that build at once, the later one's stays; neither is ever half there. */
function replace(place: string, folder: string): void {
  const before = `${folder}-before`
  try {
    renameSync(place, before)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  try {
    renameSync(folder, place)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY')) throw error
  }
  rmSync(before, { recursive: true, force: true })
}

function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(0)
}
