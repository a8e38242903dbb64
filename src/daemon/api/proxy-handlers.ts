import { toPlainWire, toWire } from '../../injection/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Handlers } from './route.ts'

/** Answers what the proxy of a run asks and tells. */
export function proxyHandlers(credentials: Credentials, audit: Audit) {
  return {
    'GET /api/proxy/routes': async ({ who, query, headers }) => {
      const body = await credentials.routes(who, query.scope ?? 'connected')
      const etag = `"${body.version}"`
      if (headers.ifNoneMatch === etag) return { status: 304, raw: null, headers: { etag } }
      return { body, headers: { etag } }
    },
    'POST /api/credentials/resolve': async ({ who, body }) => {
      const resolved = await credentials.resolve(who, body)
      return { body: body.form === 'places' ? toWire(resolved) : toPlainWire(resolved) }
    },
    'POST /audit/events': async ({ who, body, bodySha256 }) => {
      await audit.append(who, body.events, bodySha256)
      return { body: { accepted: body.events.length } }
    },
  } satisfies Partial<Handlers>
}
