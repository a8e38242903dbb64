/**
 * Where `bin/broker` starts. JavaScript, because stripping the types of a first file costs more than an empty start of
 * Node, and everything after it comes out of the compile cache with its types stripped already.
 */
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// A listener keeps SIGUSR1 from opening Node's inspector, which would let any local process read this one's memory.
process.on('SIGUSR1', () => {})

const [first, ...others] = process.argv.slice(2)
if ((first === '--version' || first === '-v') && others.length === 0) printVersion()
else await start()

function printVersion() {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  process.stdout.write(`${version}\n`)
}

async function start() {
  cacheCompiledCode(fileURLToPath(new URL('../../node_modules/.cache', import.meta.url)))
  // Only `broker run` starts it, with a channel to speak through.
  if (first === 'run-proxy' && process.connected === true) {
    const { main } = await import('./run-proxy.ts')
    return await main()
  }
  const argv = process.argv.slice(2)
  // Both processes take a while to load: the second does so beside the first.
  const { beginsRun, startRunProxy } = await import('./start-run-proxy.ts')
  const runProxy = beginsRun(argv, process.env) ? startRunProxy(process.env) : undefined
  const { main } = await import('./main.ts')
  await main(argv, runProxy)
}

// Only beside the code itself: in a folder that others may write to, code could be planted.
function cacheCompiledCode(folder) {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    enableCompileCache(`${folder}/broker`)
  } catch {
    // Without the cache everything works, a little slower.
  }
}
