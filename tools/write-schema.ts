/** `npm run schema`: writes what is made from the sources and kept in the checkout. A test holds both to be current. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { generatedFiles } from './generated-files.ts'
import { root } from './source-files.ts'

for (const { path, text } of generatedFiles((file) => readFileSync(join(root, file), 'utf8'))) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  process.stdout.write(`wrote ${path}\n`)
}
