import type { SigningKey } from '../../identity/index.ts'
import type { Deployment } from '../deployment/index.ts'
import { checkReadiness, healthOf, type ReadinessOptions, suspendedReadiness } from '../readiness/index.ts'
import type { Handlers } from './route.ts'

export interface StatusOptions {
  readonly readiness: ReadinessOptions
  readonly home: string
  /** Its key proves to the command line that this is the daemon it knows. */
  readonly deployment: Pick<Deployment, 'key'>
}

export function statusHandlers({ readiness: parts, home, deployment }: StatusOptions) {
  return {
    'GET /api/health': async ({ headers: { challenge, host } }) => ({
      body: healthOf(parts),
      ...(challenge !== undefined && {
        headers: { 'x-broker-proof': daemonProof(await deployment.key(), challenge, host) },
      }),
    }),
    'GET /api/ready': async ({ who }) => ({
      body: 'suspended' in who ? await suspendedReadiness(parts, who) : await checkReadiness(parts, who),
    }),
    'GET /api/whoami': ({ who }) => ({
      body: {
        home,
        identity: who.identity,
        principal_id: who.principalId,
        vault_id: who.vaultId,
        principal_role: who.role,
        did: who.did,
      },
    }),
  } satisfies Partial<Handlers>
}

// The authority is signed too: a program that passes the challenge on to the real daemon gets a proof for another one.
function daemonProof(key: SigningKey, challenge: string, authority: string): string {
  const text = `broker-daemon-proof/1\n${challenge}\n${authority}`
  return `${key.did} ${key.sign(Buffer.from(text)).toString('base64url')}`
}
