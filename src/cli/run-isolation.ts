import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Config, folderOfHome, readClientConfig, userFolder } from '../config/index.ts'
import {
  type IsolationLevel,
  IsolationUnavailable,
  keyringSockets,
  makeSandbox,
  raiseShield,
} from '../isolation/index.ts'
import { BrokerError } from '../protocol/index.ts'
import { createSocketFolder, type RunIsolation } from '../run/index.ts'
import type { Health } from '../schemas/index.ts'

/** What of `broker run` says how its command is kept apart. */
export interface IsolationOptions {
  readonly sandbox?: boolean
  /** False where `--no-shield` was typed. */
  readonly shield?: boolean
  readonly requireIsolation?: true | 'shield' | 'sandbox'
  /** What a sandbox opens besides: paths, ports of this machine. */
  readonly allowRead?: readonly string[]
  readonly allowWrite?: readonly string[]
  readonly allowPort?: readonly number[]
  /** Hosts that `--strict` lets through, and a sandbox has by their names. */
  readonly allowNet?: readonly { readonly host: string; readonly port?: number }[]
}

/** The level that is wanted, and what is to happen where it cannot be had. */
interface WantedIsolation {
  readonly level: IsolationLevel
  readonly otherwise: 'refuse' | 'say so' | 'go on'
}

const HEIGHT: Readonly<Record<IsolationLevel, number>> = { none: 0, shield: 1, sandbox: 2 }

/** @throws BrokerError where the options contradict each other */
function wantedIsolation(
  { sandbox, shield, requireIsolation }: IsolationOptions,
  setting: IsolationLevel | undefined,
): WantedIsolation {
  if (sandbox && shield === false) {
    throw new BrokerError('InvalidRequestError', '--sandbox and --no-shield contradict each other', {
      hint: 'Leave one of them out.',
    })
  }
  const required = requireIsolation === true ? 'shield' : requireIsolation
  if (required && shield === false) {
    throw unavailable(required, '--no-shield was given, too', 'Leave one of the two options out.')
  }
  const asked = sandbox ? 'sandbox' : shield === false ? 'none' : (setting ?? 'shield')
  const level = required && HEIGHT[required] > HEIGHT[asked] ? required : asked
  if (required || level === 'sandbox') return { level, otherwise: 'refuse' }
  return { level, otherwise: setting === undefined ? 'go on' : 'say so' }
}

export interface IsolationPlace {
  readonly config: Config
  readonly health: Health
  readonly warn: (message: string) => void
}

/**
 * Makes the place that the command of a run is started in.
 * @throws BrokerError OperationNotAllowedError where it cannot be had, and was asked for
 */
export async function isolate(options: IsolationOptions, place: IsolationPlace): Promise<RunIsolation> {
  const { config, warn } = place
  if (config.runSocket !== undefined) return withinOuter(options)
  const { level, otherwise } = wantedIsolation(options, readClientConfig(config.paths).isolation)
  refuseWhatNeedsSandbox(level, options)
  if (level === 'none') return { level, ...allowances(options) }
  try {
    return await enclose(level, options, place)
  } catch (error) {
    if (!(error instanceof IsolationUnavailable)) throw error
    if (otherwise === 'refuse') throw unavailable(level, error.message)
    if (otherwise === 'say so') warn(`The ${level} cannot be had: ${error.message}. The command runs without it`)
    return { level: 'none', ...allowances(options) }
  }
}

function refuseWhatNeedsSandbox(level: IsolationLevel, { allowRead, allowWrite, allowPort }: IsolationOptions): void {
  if (level === 'sandbox' || !(allowRead ?? allowWrite ?? allowPort)) return
  throw new BrokerError('InvalidRequestError', 'Nothing is forbidden that could be allowed: that is for a sandbox', {
    hint: 'Add --sandbox, or leave --allow-read, --allow-write and --allow-port out.',
  })
}

async function enclose(
  level: 'shield' | 'sandbox',
  options: IsolationOptions,
  { config, health }: IsolationPlace,
): Promise<RunIsolation> {
  const { environment, paths } = config
  folderOfHome(paths.client)
  const socketFolder = createSocketFolder(folderOfHome(paths.runs))
  const hidden = {
    home: paths.home,
    instead: socketFolder,
    keyFile: config.daemon.masterKeyFile,
    ...(health.effective_encryption_source === 'keyring' && {
      keyring: keyringSockets(environment, process.getuid?.() ?? 0),
    }),
  }
  const place = { hidden, folder: process.cwd(), needed: [tmpdir()], environment }
  try {
    const seenFolder = process.platform === 'linux' ? paths.home : socketFolder
    const made = { level, socketFolder, seenFolder }
    if (level === 'shield') return { ...made, enclosure: await raiseShield(place), ...allowances(options) }
    return { ...made, ...(await sandboxOf(options, place, socketFolder)) }
  } catch (error) {
    rmSync(socketFolder, { recursive: true, force: true })
    throw error
  }
}

async function sandboxOf(
  options: IsolationOptions,
  place: Omit<Parameters<typeof makeSandbox>[0], 'readable' | 'writable' | 'userFolder' | 'ports'>,
  socketFolder: string,
) {
  const { allowRead = [], allowWrite = [] } = options
  const { allowed, ports } = allowances(options)
  const named = allowed.map((one, at) => ({ ...one, ...(!ADDRESS.test(one.host) && { address: `127.1.0.${at + 1}` }) }))
  const sandbox = await makeSandbox({
    ...place,
    readable: allowRead.map(pathThere),
    writable: allowWrite.map(pathThere),
    userFolder: userFolder(),
    hostsFile: hostsWith(named, socketFolder),
    ports,
  })
  return { sandbox, allowed: named, ports }
}

/** An address has no name that could lead elsewhere. */
const ADDRESS = /^[\d.]+$|:/

/** A file of host names in which these have their address in the sandbox; undefined where there are none. */
function hostsWith(
  hosts: readonly { readonly host: string; readonly address?: string }[],
  folder: string,
): string | undefined {
  const lines = hosts.flatMap(({ host, address }) => (address === undefined ? [] : [`${address} ${host}`]))
  if (lines.length === 0) return undefined
  const path = join(folder, 'hosts')
  const own = existsSync('/etc/hosts') ? readFileSync('/etc/hosts', 'utf8').trimEnd() : '127.0.0.1 localhost'
  writeFileSync(path, `${[own, ...lines].join('\n')}\n`, { mode: 0o600 })
  return path
}

function pathThere(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return whole
  throw new BrokerError('InvalidRequestError', `There is no "${whole}" that could be allowed`, {
    hint: 'Make it first, or leave the option out.',
  })
}

const MOST_HOSTS = 250

function allowances({ allowNet = [], allowPort = [] }: IsolationOptions) {
  if (allowNet.length > MOST_HOSTS)
    throw new BrokerError('InvalidRequestError', `At most ${MOST_HOSTS} hosts are allowed`)
  return { allowed: allowNet, ports: allowPort }
}

/** It is where the command around it is, and nowhere else. */
function withinOuter({ sandbox, requireIsolation }: IsolationOptions): RunIsolation {
  if (!sandbox && requireIsolation !== 'sandbox') return { level: 'none' }
  throw unavailable('sandbox', 'this is within another run', 'Start the outer command with `broker run --sandbox`.')
}

function unavailable(level: IsolationLevel, why: string, hint?: string): BrokerError {
  return new BrokerError('OperationNotAllowedError', `The ${level} cannot be had: ${why}`, {
    hint: hint ?? '`broker doctor --isolation` says what holds here; docs/run.md, what it needs.',
  })
}
