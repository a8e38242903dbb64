import { DaemonClient, expectDaemon, pinDaemon, type Signer, type Trust } from '../client/index.ts'
import {
  type Config,
  isSealed,
  listIdentities,
  readClientConfig,
  readDaemonInfo,
  readIdentityKey,
  userRoots,
  writeClientConfig,
} from '../config/index.ts'
import { signingKeyFromPem } from '../identity/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { Health } from '../schemas/index.ts'
import type { DebugLog } from './debug-log.ts'
import type { Invocation } from './invocation.ts'
import { withMeantProvider } from './meant-provider.ts'
import { versionSkew } from './version-skew.ts'

/**
 * Does `work` as `signer`, or else as the active agent, and lets go of the daemon after.
 * @throws BrokerError DaemonUnavailableError before anything else, then AuthenticationFailedError where there is no agent.
 */
export async function asAgent<Result>(
  { config, log, output, version }: Pick<Invocation, 'config' | 'log' | 'output' | 'version'>,
  work: (client: DaemonClient) => Promise<Result>,
  signer?: Signer,
): Promise<Result> {
  await requireDaemonWithoutAgent(config, log)
  const own = config.runSocket === undefined ? (signer ?? activeSigner(config)) : undefined
  const client = connect(config, log, own, (health) => {
    const skew = versionSkew(version, health.version, config)
    if (skew !== undefined) output.noticeOnce(skew)
  })
  try {
    return await work(client)
  } catch (error) {
    throw await withMeantProvider(error, client)
  } finally {
    client.close()
  }
}

// That no daemon runs is what a new user has to know first.
async function requireDaemonWithoutAgent(config: Config, log: DebugLog): Promise<void> {
  if (config.runSocket === undefined && activeHandle(config) === undefined) await proveDaemon(config, log)
}

/** @throws BrokerError DaemonUnavailableError where the daemon that is meant does not answer. */
export async function proveDaemon(config: Config, log: DebugLog): Promise<void> {
  const client = connect(config, log)
  try {
    await client.prove()
  } finally {
    client.close()
  }
}

const RESOLVE = '/api/credentials/resolve'

/** A client of the configured daemon, which has to prove to be the one this home means. */
export function connect(
  config: Config,
  log: DebugLog,
  signer?: Signer,
  onProven?: (health: Health) => void,
): DaemonClient {
  return new DaemonClient({
    baseUrl: config.baseUrl,
    ...(signer && { signer }),
    ...(config.runSocket && { runSocket: config.runSocket }),
    ...(onProven && { onProven }),
    check: (did) => daemonCheck(config)(did),
    trust: () => trustOf(config),
    isSealed: () => config.baseUrlIsOwn && isSealed(readDaemonInfo(config.paths)),
    onRequest: ({ path, milliseconds, ...request }) => {
      // One for each request of a run: what became of it is in the audit log.
      if (path === RESOLVE && request.status === 200) return
      log.write({ event: 'request', ...request, path: withoutSession(path), milliseconds: Math.round(milliseconds) })
    },
    ...(config.runSocket && { unreachableHint: 'The run that this is called in may have ended.' }),
    ...(!config.baseUrlIsOwn && {
      unreachableHint: 'Check that the daemon runs there, or name another with BROKER_BASE_URL.',
    }),
  })
}

/** The system's roots and the user's own, as all that the user runs: read only where the daemon speaks https. */
async function trustOf({ proxy, inherited }: Config): Promise<Trust> {
  const { NODE_EXTRA_CA_CERTS: trustFile } = inherited
  const { trustContext } = await import('../network/index.ts')
  return trustContext([...userRoots(proxy), ...userRoots(trustFile === undefined ? {} : { trustFile })])
}

// The id of a login session opens its form.
function withoutSession(path: string): string {
  return path.replace(/(\/sessions\/)[^/]+/, '$1…')
}

// Asked when the daemon answers and not before: a command may just have started it.
function daemonCheck(config: Config) {
  if (config.baseUrlIsOwn) return expectDaemon(readDaemonInfo(config.paths)?.did)
  const { daemon_did, pinned_base_url } = readClientConfig(config.paths)
  const pinned = pinned_base_url === config.baseUrl ? daemon_did : undefined
  const pin = (did: string) => writeClientConfig(config.paths, { daemon_did: did, pinned_base_url: config.baseUrl })
  return pinDaemon(pinned, pin, config.baseUrl)
}

/** @throws BrokerError AuthenticationFailedError where the home has no agent, or not the one that is active. */
export function activeSigner(config: Config): Signer {
  const handle = activeHandle(config)
  if (handle === undefined) {
    throw new BrokerError('AuthenticationFailedError', 'This home has no active agent', {
      hint: 'Set it up with `broker onboard`, or choose one with `broker agent use <name>`.',
    })
  }
  return signerOf(config, handle)
}

/** The chosen agent, or the only one there is. */
export function activeHandle({ paths }: Config): string | undefined {
  const chosen = readClientConfig(paths).active_identity
  if (chosen !== undefined) return chosen
  const [only, another] = listIdentities(paths)
  return another === undefined ? only : undefined
}

/** @throws BrokerError AuthenticationFailedError where its key is missing or damaged. */
export function signerOf(config: Config, handle: string): Signer {
  const pem = readIdentityKey(config.paths, handle)
  if (pem) return { handle, key: signingKeyFromPem(pem, `identities/${handle}.key`) }
  throw new BrokerError('AuthenticationFailedError', `The agent "${handle}" has no key in this home`, {
    hint: 'Choose another with `broker agent use <name>`, or make one with `broker agent create <name>`.',
  })
}
