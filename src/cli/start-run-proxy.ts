import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FromProxy, StartedProxy } from '../run/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The word after which `launch.js` becomes the process of a run's proxy. */
const RUN_PROXY = 'run-proxy'

/**
 * Starts the process of a run's proxy: in a session of its own, for what the terminal sends to the command's group is not
 * for it; with a channel to speak through and no other stream.
 */
export function startRunProxy(env: Environment): StartedProxy {
  const launch = fileURLToPath(new URL('./launch.js', import.meta.url))
  const options = ['--disable-sigusr1', '--max-semi-space-size=2', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...options, launch, RUN_PROXY], {
    detached: true,
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const said: FromProxy[] = []
  child.on('message', (message: FromProxy) => said.push(message))
  // Whoever takes it over sees that it is gone.
  child.on('error', () => {})
  return { child, said }
}

/**
 * Returns whether these arguments are those of a `broker run` whose proxy can be started before anything else is known: not of one
 * that only asks for help, nor of one within a run, whose settings have to be asked for first.
 */
export function beginsRun(argv: readonly string[], env: Environment): boolean {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  const isHelp = own.includes('--help') || own.includes('-h')
  return own.find((word) => !word.startsWith('-')) === 'run' && end !== -1 && !isHelp && !env['HTTPS_PROXY']
}
