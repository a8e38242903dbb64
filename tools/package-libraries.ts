import { join } from 'node:path'
import { build } from 'vite'
import { root } from './source-files.ts'

/**
 * Bundles the libraries that these module names stand for into an empty folder: one file each, what they share, and their
 * licences. npm then installs next to nothing: whoever installs has the bytes that were tested, and npm's own Node may be
 * older than the libraries want.
 */
export async function bundleLibraries(names: readonly string[], folder: string): Promise<void> {
  const entries = new Map<string, string>()
  for (const name of names)
    entries.set(entryOf(name), `export { ${(await exportsOf(name)).join(', ')} } from '${name}'\n`)
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    // Files that are not there: their names, which end up in comments, are the same in every build.
    plugins: [
      {
        name: 'entries',
        resolveId: (id) => (entries.has(id) ? id : undefined),
        load: (id) => entries.get(id),
      },
    ],
    // As Node would find them.
    ssr: { noExternal: true, resolve: { mainFields: ['main'], conditions: ['node', 'module-sync'] } },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: true,
      copyPublicDir: false,
      target: 'node24',
      minify: false,
      license: { fileName: 'LICENSES.md' },
      rolldownOptions: {
        input: Object.fromEntries(names.map((name) => [fileNameOf(name), entryOf(name)])),
        // Not there in the checkout either: a library looks for them and does without.
        external: ['pg-native', 'cloudflare:sockets'],
        output: { entryFileNames: '[name].js', chunkFileNames: 'shared-[name].js' },
      },
    },
  })
}

/** Its file's name without `.js`: `kysely-migration` of `kysely/migration`. */
export function fileNameOf(name: string): string {
  return name.replace(/^@/, '').replaceAll('/', '-')
}

function entryOf(name: string): string {
  return join(root, 'vendor', `${fileNameOf(name)}.mjs`)
}

/** Returns what Node gives to whoever imports it. */
async function exportsOf(name: string): Promise<readonly string[]> {
  return Object.keys(await import(name)).filter((one) => /^[\w$]+$/.test(one))
}
