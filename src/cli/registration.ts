import type { DaemonClient } from '../client/index.ts'
import { type Config, createIdentity, readBootstrapSecret, writeClientConfig } from '../config/index.ts'
import { generateSigningKey } from '../identity/index.ts'
import { BrokerError } from '../protocol/index.ts'
import type { Registration } from '../schemas/index.ts'
import { activeHandle } from './session.ts'

/** Makes an agent in this home and gives its DID; the first one becomes the active one. */
export function createAgentKey(config: Config, handle: string): string {
  const isFirst = activeHandle(config) === undefined
  const identity = createIdentity(config.paths, handle, generateSigningKey)
  if (!identity) {
    throw new BrokerError('OperationNotAllowedError', `There is an agent "${handle}" in this home already`, {
      hint: `Switch to it with \`broker agent use ${handle}\`, or choose another name.`,
    })
  }
  if (isFirst) writeClientConfig(config.paths, { active_identity: handle })
  return identity.did
}

/** Has the daemon accept the client's agent; the home's own daemon takes it for the owner's at once. */
export function register(config: Config, client: DaemonClient): Promise<Registration> {
  // Sent to the home's own daemon alone, and only after it has proven to be that.
  return client.registerIdentity(config.baseUrlIsOwn ? readBootstrapSecret(config.paths) : undefined)
}
