import type { SigningKey } from '../../identity/index.ts'
import { health, readiness, whoami } from '../../schemas/index.ts'
import type { Deployment } from '../deployment/index.ts'
import { checkReadiness, healthOf, type ReadinessOptions, suspendedReadiness } from '../readiness/index.ts'
import { type Route, route } from './route.ts'

export interface StatusOptions {
  readonly readiness: ReadinessOptions
  readonly home: string
  /** Its key proves to the command line that this is the daemon it knows. */
  readonly deployment: Pick<Deployment, 'key'>
}

export function statusRoutes({ readiness: parts, home, deployment }: StatusOptions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/health',
      access: 'anyone',
      summary:
        'Liveness, whatever state the parts are in. A challenge in `x-broker-challenge` is answered by a signature; by 503 where the key for it cannot be had.',
      reply: health,
      handle: async ({ headers: { challenge, host } }) => ({
        body: healthOf(parts),
        ...(challenge !== undefined && {
          headers: { 'x-broker-proof': daemonProof(await deployment.key(), challenge, host) },
        }),
      }),
    }),
    route({
      method: 'GET',
      path: '/api/ready',
      access: 'principal or suspended',
      summary: 'Readiness: every part tried out in small, for the caller.',
      reply: readiness,
      handle: async ({ who }) => ({
        body: 'suspended' in who ? await suspendedReadiness(parts, who) : await checkReadiness(parts, who),
      }),
    }),
    route({
      method: 'GET',
      path: '/api/whoami',
      access: 'agent',
      summary: 'Who the caller is to this daemon.',
      reply: whoami,
      handle: ({ who }) => ({
        body: {
          home,
          identity: who.identity,
          principal_id: who.principalId,
          vault_id: who.vaultId,
          principal_role: who.role,
          did: who.did,
        },
      }),
    }),
  ]
}

// The authority is signed too: a program that passes the challenge on to the real daemon gets a proof for another one.
function daemonProof(key: SigningKey, challenge: string, authority: string): string {
  const text = `broker-daemon-proof/1\n${challenge}\n${authority}`
  return `${key.did} ${key.sign(Buffer.from(text)).toString('base64url')}`
}
