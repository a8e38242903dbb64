import * as z from 'zod'
import { toPlainWire, toWire } from '../../injection/index.ts'
import { accepted, resolution, resolveRequest, routes as routeList, shippedBatch } from '../../schemas/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Credentials } from '../credentials/index.ts'
import { type Route, route } from './route.ts'

const BATCH_LIMIT = 4 * 1024 * 1024

/** What the proxy of a run asks and tells. */
export function proxyRoutes(credentials: Credentials, audit: Audit): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/proxy/routes',
      access: 'run',
      summary: 'Which hosts a credential is connected for; `scope=all` names those without one too.',
      query: z.strictObject({ scope: z.enum(['connected', 'all']).optional() }),
      reply: routeList,
      handle: async ({ who, query, headers }) => {
        const body = await credentials.routes(who, query.scope ?? 'connected')
        const etag = `"${body.version}"`
        if (headers.ifNoneMatch === etag) return { status: 304, raw: null, headers: { etag } }
        return { body, headers: { etag } }
      },
    }),
    route({
      method: 'POST',
      path: '/api/credentials/resolve',
      access: 'run',
      summary: 'The headers and query parameters that carry the credential for one request.',
      body: resolveRequest,
      reply: resolution,
      handle: async ({ who, body }) => {
        const resolved = await credentials.resolve(who, body)
        return { body: body.form === 'places' ? toWire(resolved) : toPlainWire(resolved) }
      },
    }),
    route({
      method: 'POST',
      path: '/audit/events',
      access: 'run',
      summary: 'Takes what a proxy saw. Who it was comes from the signature; what was sent before is stored once.',
      body: shippedBatch,
      maxBody: BATCH_LIMIT,
      reply: accepted,
      status: 202,
      handle: async ({ who, body, bodySha256 }) => {
        await audit.append(who, body.events, bodySha256)
        return { body: { accepted: body.events.length } }
      },
    }),
  ]
}
