/**
 * `npm run build`: the dashboard, from its sources to the files that the daemon serves, each with a compressed one beside
 * it. `npm ci` does this by itself.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'vite'
import { root } from './source-files.ts'

const out = join(root, 'dist')

await build({
  root: join(root, 'src/dashboard'),
  configFile: false,
  logLevel: 'error',
  build: {
    outDir: out,
    emptyOutDir: true,
    assetsDir: 'dashboard',
    // A picture inside the document would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: { entryFileNames: 'dashboard/[name]-[hash].js', assetFileNames: 'dashboard/[name]-[hash][extname]' },
    },
  },
})

let [plain, compressed] = [0, 0]
for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = join(entry.parentPath, entry.name)
  const bytes = readFileSync(path)
  const small = brotliCompressSync(bytes)
  writeFileSync(`${path}.br`, small)
  plain += bytes.length
  compressed += small.length
}
process.stdout.write(`dashboard: ${kilobytes(plain)} kB, ${kilobytes(compressed)} kB compressed, in dist/\n`)

function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(0)
}
