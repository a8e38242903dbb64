import type { Proof } from '../../identity/index.ts'
import { BrokerError, type BrowserActor } from '../../protocol/index.ts'
import type { Identity } from '../../schemas/index.ts'

import type { CheckedConnections } from '../connections/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Principals } from '../principals/index.ts'
import type { Handlers } from './route.ts'

export function identityHandlers(
  principals: Principals,
  { credentials, connections }: { readonly credentials: Credentials; readonly connections: CheckedConnections },
) {
  return {
    'POST /api/identities/register': async ({ who, body, headers }) => {
      const { bootstrap, caller } = headers
      const from = { source: caller.source, ...(bootstrap && { bootstrap }) }
      const { registration, isNew } = await principals.register(who, body, from)
      return { status: isNew ? 201 : 200, body: registration }
    },
    'GET /api/identities': async ({ who }) => ({ body: { identities: [...(await principals.list(who))] } }),
    'GET /api/identities/{handle}': async ({ who, params }) => {
      const found =
        'browser' in who
          ? await findOwn(principals, who, params.handle)
          : await findSelf(principals, who, params.handle)
      if (found) return { body: found }
      throw new BrokerError('NotFoundError', `There is no identity "${params.handle}"`)
    },
    'POST /api/identities/{handle}/label': async ({ who, params, body }) => {
      await principals.setLabel(who, params.handle, body.label === '' ? undefined : body.label)
      return { body: { status: 'ok' as const } }
    },
    'DELETE /api/identities/{handle}': async ({ who, params }) => {
      await principals.remove(who, params.handle)
      return { body: { status: 'ok' as const } }
    },
    'POST /api/runs': async ({ who, body }) => {
      await credentials.requireGrantable(who, body)
      const breach = await connections.breach(who)
      const started = await principals.startRun(who, body)
      return { body: { ...started, ...(breach !== undefined && { warnings: [breach] }) } }
    },
    'POST /api/runs/{run_id}/end': async ({ who, params, body }) => {
      await principals.endRun(who, params.run_id, body.exit_code)
      return { body: { status: 'ok' as const } }
    },
  } satisfies Partial<Handlers>
}

async function findOwn(principals: Principals, who: BrowserActor, handle: string): Promise<Identity | undefined> {
  return (await principals.list(who)).find(({ identity }) => identity === handle)
}

async function findSelf(principals: Principals, proof: Proof, handle: string): Promise<Identity | undefined> {
  return proof.handle === handle ? principals.identityOf(proof) : undefined
}
