import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listIdentities, readClientConfig, readDaemonInfo, userFolder } from '../../config/index.ts'
import {
  ATTACKER,
  type AttackOrders,
  type AttackTargets,
  attacksOn,
  type IsolationLevel,
  keyringSockets,
  type Verdict,
} from '../../isolation/index.ts'
import { BrokerError } from '../../protocol/index.ts'
import type { Health } from '../../schemas/index.ts'
import type { Invocation } from '../invocation.ts'
import { isolate } from '../run-isolation.ts'
import { asAgent } from '../session.ts'

/**
 * Tries from inside of a run what its isolation is to hold, and says what came of it. Exit code 0 where nothing got through, and a level that was named
 * is the one that was tried.
 */
export async function doctorIsolation(
  invocation: Invocation,
  wanted: 'shield' | 'sandbox' | undefined,
): Promise<number> {
  const { config, output } = invocation
  if (config.runSocket !== undefined) {
    throw new BrokerError('OperationNotAllowedError', 'A command of a run cannot tell what is outside of it', {
      hint: 'Call it outside of `broker run`.',
    })
  }
  const health = await asAgent(invocation, (client) => client.prove())
  const level = await levelToTry(invocation, health, wanted)
  const { port, close } = await listenSomewhere()
  const targets = targetsOf(invocation, health, port)
  try {
    const { orders, skipped } = attacksOn(level, targets)
    const tried = level === 'none' ? [] : await attack(invocation, level, orders)
    const attacks = [...tried.map((one) => seenFromOutside(one, targets)), ...skipped]
    output.result({ level, attacks }, () => {
      output.table(
        ['ATTACK', 'VERDICT', 'DETAIL'],
        attacks.map(({ name, verdict, detail }) => [name, verdict, detail]),
      )
      output.note(`Level: ${level}`)
    })
    const isWanted = wanted === undefined || level === wanted
    return isWanted && attacks.every(({ verdict }) => verdict !== 'leaked') ? 0 : 1
  } finally {
    close()
    rmSync(targets.foreignFile, { force: true })
  }
}

/** What a sandbox lets be written may be its own. */
function seenFromOutside(one: Verdict, { foreignFile }: AttackTargets): Verdict {
  if (one.name !== 'write_outside' || existsSync(foreignFile)) return one
  return { name: one.name, verdict: 'held' }
}

/** The level that was named, or is in use; below it where it cannot be had, which one line says. */
async function levelToTry(
  { config, output }: Invocation,
  health: Health,
  wanted: 'shield' | 'sandbox' | undefined,
): Promise<IsolationLevel> {
  const level = wanted ?? readClientConfig(config.paths).isolation ?? 'shield'
  if (level === 'none') return level
  try {
    const place = { config, health, warn: () => {} }
    const made = await isolate({ requireIsolation: level, ...(level === 'sandbox' && { sandbox: true }) }, place)
    made.enclosure?.release()
    if (made.socketFolder !== undefined) rmSync(made.socketFolder, { recursive: true, force: true })
    return level
  } catch (error) {
    if (!(error instanceof BrokerError) || error.name !== 'OperationNotAllowedError') throw error
    output.notice(error.message)
    return 'none'
  }
}

function targetsOf({ config }: Invocation, health: Health, outsidePort: number): AttackTargets {
  const { paths, environment, daemon } = config
  const info = config.baseUrlIsOwn ? readDaemonInfo(paths) : undefined
  const docker = /^unix:\/\/(\/.*)$/.exec(environment['DOCKER_HOST'] ?? '')?.[1]
  const agent = environment['SSH_AUTH_SOCK']
  const isInKeyring = health.effective_encryption_source === 'keyring'
  return {
    identityKeys: listIdentities(paths).map((handle) => join(paths.identities, `${handle}.key`)),
    masterKeys: [paths.masterKey, ...(daemon.masterKeyFile ? [daemon.masterKeyFile] : [])],
    keyring: isInKeyring ? keyringSockets(environment, process.getuid?.() ?? 0) : [],
    ownerSecrets: [paths.bootstrapSecret, paths.operatorSecret, paths.daemonKey],
    store: [paths.database],
    home: paths.home,
    daemonPid: info?.pid,
    daemonPort: config.baseUrlIsOwn ? Number(new URL(config.baseUrl).port || 80) : undefined,
    outsidePid: process.pid,
    outsidePort,
    sshAgent: agent ? [agent] : [],
    docker: [docker ?? '/var/run/docker.sock'],
    foreignFile: foreignFile(),
  }
}

/** In the user's own folder: what is written there, others find. */
function foreignFile(): string {
  const home = userFolder()
  return join(existsSync(home) ? home : tmpdir(), `.broker-doctor-${randomBytes(6).toString('hex')}`)
}

/** Something of this machine that a command could reach. */
async function listenSomewhere(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((_, answer) => answer.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const LAUNCH = fileURLToPath(new URL('../launch.js', import.meta.url))

/** As whoever calls `broker run` does. */
async function attack(
  { config }: Invocation,
  level: 'shield' | 'sandbox',
  orders: AttackOrders,
): Promise<readonly Verdict[]> {
  const options = ['run', `--require-isolation=${level}`, ...(level === 'sandbox' ? ['--sandbox'] : [])]
  const command = [process.execPath, ATTACKER, JSON.stringify(orders)]
  const args = [...process.execArgv, LAUNCH, ...options, '--', ...command]
  const child = spawn(process.execPath, args, { env: config.environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let [said, complaint] = ['', '']
  child.stdout.on('data', (chunk) => (said += chunk))
  child.stderr.on('data', (chunk) => (complaint += chunk))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const verdicts = code === 0 ? verdictsIn(said) : undefined
  if (verdicts) return verdicts
  const last = complaint.trim().split('\n').at(-1)
  throw new BrokerError('InternalError', `The attacks could not be tried${last ? `: ${last}` : ''}`)
}

function verdictsIn(text: string): readonly Verdict[] | undefined {
  try {
    return JSON.parse(text) as readonly Verdict[]
  } catch {
    return undefined
  }
}
