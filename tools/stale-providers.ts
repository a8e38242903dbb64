/** `npm run stale`: the bundled definitions that nobody has compared with their sources for long, oldest first. */
import { join } from 'node:path'
import { definitionFolder, openProviders } from '../src/daemon/providers/index.ts'
import { root } from './source-files.ts'

type Verified = { readonly name: string; readonly last_verified?: string | undefined }

const DAYS = 180
const DAY = 86_400_000

/** Those verified more than {@link DAYS} days before `today` (`2026-11-22`), or never: these come first. */
export function staleOf<Definition extends Verified>(
  definitions: readonly Definition[],
  today: string,
): readonly Definition[] {
  const oldest = new Date(Date.parse(today) - DAYS * DAY).toISOString().slice(0, 10)
  return definitions
    .filter(({ last_verified: day = '' }) => day < oldest)
    .toSorted((a, b) => (a.last_verified ?? '').localeCompare(b.last_verified ?? '') || a.name.localeCompare(b.name))
}

if (import.meta.main) {
  const bundledDir = join(root, 'providers')
  const all = openProviders({ bundledDir, custom: definitionFolder(join(bundledDir, 'none')) }).list()
  const stale = staleOf(
    all.map(({ definition }) => definition),
    new Date().toISOString().slice(0, 10),
  )
  for (const { name, last_verified = 'never' } of stale) process.stdout.write(`${last_verified}\t${name}\n`)
  process.stderr.write(`${stale.length} of ${all.length} were not verified in ${DAYS} days\n`)
}
