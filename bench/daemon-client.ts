import { DaemonClient } from '../src/client/index.ts'
import { listIdentities, loadConfig, readIdentityKey } from '../src/config/index.ts'
import { signingKeyFromPem } from '../src/identity/index.ts'
import { BrokerError } from '../src/protocol/index.ts'

/** Asks the daemon of `env`, and signs as the identity of its home, or of another one that shares its store. */
export function clientOf(env: NodeJS.ProcessEnv, signerEnv: NodeJS.ProcessEnv = env): DaemonClient {
  const { baseUrl } = loadConfig(env, '/nowhere')
  const { paths } = loadConfig(signerEnv, '/nowhere')
  const [handle = ''] = listIdentities(paths)
  const pem = readIdentityKey(paths, handle)
  if (!pem) throw new BrokerError('AuthenticationFailedError', 'The home has no identity')
  return new DaemonClient({ baseUrl, signer: { handle, key: signingKeyFromPem(pem, handle) }, check: () => undefined })
}
