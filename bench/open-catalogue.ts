/** Opens the definitions of a folder in a new process, as the daemon does when it starts; prints the milliseconds. */
import { CHECKED_DEFINITIONS, definitionFolder, openProviders } from '../src/daemon/providers/index.ts'

const [bundledDir = ''] = process.argv.slice(2)
const started = performance.now()
openProviders({ bundledDir, custom: definitionFolder('/nowhere'), checked: CHECKED_DEFINITIONS })
process.stdout.write(String(performance.now() - started))
