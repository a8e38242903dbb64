import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { IsolationLevel } from './level.ts'

/** What a command tries from inside; {@link ATTACKS} says which level promises that it fails. */
type AttackName = keyof typeof ATTACKS

/** Each attack with the lowest level that holds it. */
const ATTACKS = {
  identity_key: 'shield',
  master_key: 'shield',
  keyring: 'shield',
  owner_secrets: 'shield',
  vault_store: 'shield',
  broker_settings: 'shield',
  daemon_memory: 'shield',
  daemon_environment: 'shield',
  run_memory: 'shield',
  run_environment: 'shield',
  sign_in_link: 'shield',
  secret_from_run: 'shield',
  daemon: 'sandbox',
  metadata_address: 'sandbox',
  network_without_proxy: 'sandbox',
  machine_through_proxy: 'sandbox',
  ssh_agent: 'sandbox',
  docker_socket: 'sandbox',
  kill_parent: 'sandbox',
  write_outside: 'sandbox',
} as const satisfies Readonly<Record<string, IsolationLevel>>

export interface Verdict {
  readonly name: AttackName
  /** `skipped` where the level does not promise it, or there is nothing to attack. */
  readonly verdict: 'held' | 'leaked' | 'skipped'
  readonly detail?: string
}

/** What is attacked: where things are outside. */
export interface AttackTargets {
  readonly identityKeys: readonly string[]
  readonly masterKeys: readonly string[]
  /** Sockets to the keyring, where the master key is there. */
  readonly keyring: readonly string[]
  readonly ownerSecrets: readonly string[]
  readonly store: readonly string[]
  readonly home: string
  readonly daemonPid: number | undefined
  /** Undefined where the daemon is on another machine. */
  readonly daemonPort: number | undefined
  /** A process outside that is like `broker run`, and a port of this machine that somebody listens at. */
  readonly outsidePid: number
  readonly outsidePort: number
  readonly sshAgent: readonly string[]
  readonly docker: readonly string[]
  /** A file that is not there, outside of everything that may be written. */
  readonly foreignFile: string
}

/** The program that tries them, as the command of a run, and prints what came of each. */
export const ATTACKER = fileURLToPath(new URL('./attacker.cjs', import.meta.url))

const HEIGHT: Readonly<Record<IsolationLevel, number>> = { none: 0, shield: 1, sandbox: 2 }

/** What the attacker is told to try: by name, each with what it is about. */
export type AttackOrders = Readonly<Partial<Record<AttackName, readonly (string | number)[]>>>

/** The attacks that a level promises to hold, and why the others are left out. */
export function attacksOn(
  level: IsolationLevel,
  targets: AttackTargets,
): { readonly orders: AttackOrders; readonly skipped: readonly Verdict[] } {
  const about = targetsOf(targets)
  const names = Object.keys(ATTACKS) as readonly AttackName[]
  const skipped = names.flatMap((name): readonly Verdict[] => {
    if (HEIGHT[ATTACKS[name]] > HEIGHT[level]) {
      return [{ name, verdict: 'skipped', detail: `held by the ${ATTACKS[name]}, and by nothing below` }]
    }
    return about[name].length === 0 ? [{ name, verdict: 'skipped', detail: 'there is none here' }] : []
  })
  const tried = names.filter((name) => !skipped.some((one) => one.name === name))
  return { orders: Object.fromEntries(tried.map((name) => [name, about[name]])), skipped }
}

function targetsOf(targets: AttackTargets): Readonly<Record<AttackName, readonly (string | number)[]>> {
  const { daemonPid, outsidePid, outsidePort, daemonPort, home, foreignFile } = targets
  const there = (paths: readonly string[]) => paths.filter((path) => existsSync(path))
  const daemon = daemonPid === undefined || process.platform !== 'linux' ? [] : [daemonPid]
  const outside = process.platform === 'linux' ? [outsidePid] : []
  return {
    identity_key: there(targets.identityKeys),
    master_key: there(targets.masterKeys),
    keyring: there(targets.keyring),
    owner_secrets: there(targets.ownerSecrets),
    vault_store: there(targets.store),
    broker_settings: [home],
    daemon_memory: daemon,
    daemon_environment: daemon,
    run_memory: outside,
    run_environment: outside,
    // By the socket of the run in any case.
    sign_in_link: [daemonPort ?? 0],
    secret_from_run: [daemonPort ?? 0],
    daemon: daemonPort === undefined ? [] : [daemonPort],
    metadata_address: ['169.254.169.254'],
    network_without_proxy: [outsidePort],
    machine_through_proxy: [outsidePort],
    ssh_agent: there(targets.sshAgent),
    docker_socket: there(targets.docker),
    kill_parent: [outsidePid],
    write_outside: [foreignFile],
  }
}
