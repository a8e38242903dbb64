/**
 * `npm run build`: the dashboard, from its sources to the files that the daemon serves, each with a compressed one beside
 * it. The command line does this by itself before it starts a daemon of a checkout that has none.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'vite'
import { root } from './source-files.ts'

const out = join(root, 'dist')
// Beside its place, so that it gets there whole: a daemon may be serving the one before.
const fresh = mkdtempSync(join(root, '.dist-'))

try {
  await build({
    root: join(root, 'src/dashboard'),
    configFile: false,
    logLevel: 'error',
    build: {
      outDir: fresh,
      emptyOutDir: true,
      assetsDir: 'dashboard',
      // A picture inside the document would need a wider policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        output: { entryFileNames: 'dashboard/[name]-[hash].js', assetFileNames: 'dashboard/[name]-[hash][extname]' },
      },
    },
  })
  // A temporary folder is its maker's alone; a daemon of somebody else may serve this one.
  chmodSync(fresh, 0o755)
  const { plain, compressed } = compress(fresh)
  replace(out, fresh)
  process.stdout.write(`dashboard: ${kilobytes(plain)} kB, ${kilobytes(compressed)} kB compressed, in dist/\n`)
} finally {
  rmSync(fresh, { recursive: true, force: true })
}

function compress(folder: string): { readonly plain: number; readonly compressed: number } {
  let [plain, compressed] = [0, 0]
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    const small = brotliCompressSync(bytes)
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
