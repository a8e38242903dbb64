/**
 * A program of its own, without a daemon: reads `{"customDir","definitions"}` from standard input and says of each
 * definition what the daemon would. The command line starts it, which has no schema library.
 */
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { CHECKED_DEFINITIONS, definitionFolder, openProviders } from './providers/index.ts'

interface ValidationInput {
  /** Of the home whose providers it is compared with. */
  readonly customDir: string
  readonly definitions: readonly unknown[]
}

const bundledDir = fileURLToPath(new URL('../../providers', import.meta.url))
const { customDir, definitions } = JSON.parse(await text(process.stdin)) as ValidationInput
const checked = openProviders({ bundledDir, custom: definitionFolder(customDir), checked: CHECKED_DEFINITIONS }).check(
  definitions,
)
process.stdout.write(JSON.stringify(checked.map(({ definition: _own, ...said }) => said)))
