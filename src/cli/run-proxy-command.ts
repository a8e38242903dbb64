import { fileURLToPath } from 'node:url'

/** The word after which `launch.js` starts the process of a run's proxy. */
const WORD = 'run-proxy'

/** File and arguments of that process. */
export const RUN_PROXY_COMMAND: readonly [string, ...string[]] = [
  process.execPath,
  '--disable-sigusr1',
  '--max-semi-space-size=2',
  '--disable-warning=ExperimentalWarning',
  fileURLToPath(new URL('./launch.js', import.meta.url)),
  WORD,
]
