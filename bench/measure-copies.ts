import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { pathOf, run } from './child-process.ts'
import type { Finding } from './report.ts'
import { homeEnvironment, runBroker, type World } from './world.ts'

const CONNECTIONS = 10_000
const EVENTS = 1_000_000
const PASSPHRASE = 'CNRY words of a bench'
const BROKER = fileURLToPath(new URL('../bin/broker', import.meta.url))

/** Seconds of what is done to all of a large store, with the start of the command: new keys, a backup, and its return. */
export async function measureCopies({ folder }: World): Promise<readonly Finding[]> {
  const env = await homeEnvironment(join(folder, 'large'))
  await runBroker(env, ['onboard', '--json'])
  await runBroker(env, ['daemon', 'stop'])
  const [connections, events] = [CONNECTIONS, EVENTS].map((count) => count.toLocaleString('en'))
  process.stderr.write(`  a home with ${connections} connections and ${events} events\n`)
  await run({ file: process.execPath, args: [pathOf('./fill-vault.ts'), String(CONNECTIONS)], env })
  await run({ file: process.execPath, args: [pathOf('./fill-audit.ts'), String(EVENTS)], env })
  await runBroker(env, ['daemon', 'start'])
  const file = join(folder, 'large.age')
  const raw = {
    rotate: await secondsOf(env, ['vault', 'rotate']),
    rekey: await secondsOf(env, ['vault', 'rekey', '--to', 'local_key']),
    backup: await secondsOf(env, ['backup', file, '--to-passphrase']),
    restore: await secondsOf(env, ['restore', file, '--yes']),
  }
  await runBroker(env, ['daemon', 'stop'])
  return [{ measure: `copies: seconds for ${connections} connections and ${events} events`, raw }]
}

/** Of a command that is given a passphrase, should it want one. */
async function secondsOf(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<number> {
  const started = performance.now()
  const child = spawn(BROKER, args, { env, stdio: ['pipe', 'ignore', 'pipe'] })
  child.stdin.on('error', () => undefined)
  child.stdin.end(`${PASSPHRASE}\n`)
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(`broker ${args[0]} ended with ${code}: ${said}`)
  return (performance.now() - started) / 1000
}
