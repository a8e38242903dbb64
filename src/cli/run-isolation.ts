import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type Config, folderOfHome, readClientConfig } from '../config/index.ts'
import { type IsolationLevel, IsolationUnavailable, keyringSockets, raiseShield } from '../isolation/index.ts'
import { BrokerError } from '../protocol/index.ts'
import { createSocketFolder, type RunIsolation } from '../run/index.ts'
import type { Health } from '../schemas/index.ts'

/** What of `broker run` says how its command is kept apart. */
export interface IsolationOptions {
  readonly sandbox?: boolean
  /** False where `--no-shield` was typed. */
  readonly shield?: boolean
  readonly requireIsolation?: true | 'shield' | 'sandbox'
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
  if (level === 'none') return { level }
  try {
    return await enclose(level, place)
  } catch (error) {
    if (!(error instanceof IsolationUnavailable)) throw error
    if (otherwise === 'refuse') throw unavailable(level, error.message)
    if (otherwise === 'say so') warn(`The ${level} cannot be had: ${error.message}. The command runs without it`)
    return { level: 'none' }
  }
}

async function enclose(level: 'shield' | 'sandbox', { config, health }: IsolationPlace): Promise<RunIsolation> {
  const { environment, paths } = config
  if (level === 'sandbox') throw new IsolationUnavailable('there is none yet')
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
  try {
    const enclosure = await raiseShield({ hidden, folder: process.cwd(), needed: [tmpdir()], environment })
    return { level, enclosure, socketFolder, seenFolder: paths.home }
  } catch (error) {
    rmSync(socketFolder, { recursive: true, force: true })
    throw error
  }
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
