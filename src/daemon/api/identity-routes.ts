import * as z from 'zod'
import type { Proof } from '../../identity/index.ts'
import { BrokerError, type BrowserActor } from '../../protocol/index.ts'
import {
  endRun,
  type Identity,
  identities,
  identity,
  identityHandle,
  labelIdentity,
  ok,
  registerIdentity,
  registration,
  run,
  startRun,
} from '../../schemas/index.ts'

import type { CheckedConnections } from '../connections/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Principals } from '../principals/index.ts'
import { type Route, route } from './route.ts'

const byHandle = z.strictObject({ handle: identityHandle })
const byRun = z.strictObject({ run_id: z.uuid() })

export function identityRoutes(
  principals: Principals,
  { credentials, connections }: { readonly credentials: Credentials; readonly connections: CheckedConnections },
): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/identities/register',
      access: 'key',
      perSource: 'registrations',
      summary: 'Registers the key that signs the request; `x-broker-bootstrap` claims it for the local owner at once.',
      body: registerIdentity,
      reply: registration,
      status: 201,
      handle: async ({ who, body, headers }) => {
        const { bootstrap, caller } = headers
        const from = { source: caller.source, ...(bootstrap && { bootstrap }) }
        const { registration, isNew } = await principals.register(who, body, from)
        return { status: isNew ? 201 : 200, body: registration }
      },
    }),
    route({
      method: 'GET',
      path: '/api/identities',
      access: 'principal',
      summary: "The identities of the caller's principal.",
      reply: identities,
      handle: async ({ who }) => ({ body: { identities: [...(await principals.list(who))] } }),
    }),
    route({
      method: 'GET',
      path: '/api/identities/{handle}',
      access: 'key or browser',
      perSource: 'polls',
      summary:
        "One's own identity, asked again and again while its claim is open; for a browser, one of its principal's.",
      params: byHandle,
      reply: identity,
      handle: async ({ who, params }) => {
        const found =
          'browser' in who
            ? await findOwn(principals, who, params.handle)
            : await findSelf(principals, who, params.handle)
        if (found) return { body: found }
        throw new BrokerError('NotFoundError', `There is no identity "${params.handle}"`)
      },
    }),
    route({
      method: 'POST',
      path: '/api/identities/{handle}/label',
      access: 'principal',
      summary: 'What people see beside the handle; an empty one removes it. The handle itself is part of what signs.',
      params: byHandle,
      body: labelIdentity,
      reply: ok,
      handle: async ({ who, params, body }) => {
        await principals.setLabel(who, params.handle, body.label === '' ? undefined : body.label)
        return { body: { status: 'ok' as const } }
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/identities/{handle}',
      access: 'principal',
      summary: 'Removes an identity of the same principal: it can sign no more.',
      params: byHandle,
      reply: ok,
      handle: async ({ who, params }) => {
        await principals.remove(who, params.handle)
        return { body: { status: 'ok' as const } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/runs',
      access: 'agent',
      summary:
        'Registers the key of one `broker run`, which may ask for credentials and ship events, and nothing else.',
      body: startRun,
      reply: run,
      status: 201,
      handle: async ({ who, body }) => {
        await credentials.requireGrantable(who, body)
        const breach = await connections.breach(who)
        const started = await principals.startRun(who, body)
        return { body: { ...started, ...(breach !== undefined && { warnings: [breach] }) } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/runs/{run_id}/end',
      access: 'run',
      summary: 'Ends a run: its key can sign no more. A run can end itself.',
      params: byRun,
      body: endRun,
      reply: ok,
      handle: async ({ who, params, body }) => {
        await principals.endRun(who, params.run_id, body.exit_code)
        return { body: { status: 'ok' as const } }
      },
    }),
  ]
}

async function findOwn(principals: Principals, who: BrowserActor, handle: string): Promise<Identity | undefined> {
  return (await principals.list(who)).find(({ identity }) => identity === handle)
}

async function findSelf(principals: Principals, proof: Proof, handle: string): Promise<Identity | undefined> {
  return proof.handle === handle ? principals.identityOf(proof) : undefined
}
