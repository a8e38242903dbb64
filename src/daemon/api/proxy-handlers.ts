import { toPlainWire, toWire } from '../../injection/index.ts'
import { BrokerError, CHANNEL_PROTOCOL } from '../../protocol/index.ts'
import type { Audit } from '../audit/index.ts'
import type { Credentials } from '../credentials/index.ts'
import type { Releases } from '../releases/index.ts'
import type { Handlers } from './route.ts'

export interface ProxyRoutesOptions {
  readonly credentials: Credentials
  readonly releases: Releases
  readonly audit: Audit
}

/** Answers what the proxy of a run asks and tells. */
export function proxyHandlers({ credentials, releases, audit }: ProxyRoutesOptions) {
  return {
    'GET /api/proxy/routes': async ({ who, query, headers }) => {
      const body = await credentials.routes(who, query.scope ?? 'connected')
      const etag = `"${body.version}"`
      if (headers.ifNoneMatch === etag) return { status: 304, raw: null, headers: { etag } }
      return { body, headers: { etag } }
    },
    'POST /api/credentials/resolve': async ({ who, body }) => {
      const { credential } = await releases.release(who, body, { how: 'resolve' })
      return { body: body.form === 'places' ? toWire(credential) : toPlainWire(credential) }
    },
    'GET /api/runs/{run_id}/channel': () => {
      throw new BrokerError('InvalidRequestError', 'This is a channel, and not a page', {
        httpStatus: 426,
        hint: `Ask for it with "connection: Upgrade" and "upgrade: ${CHANNEL_PROTOCOL}"; a proxy between must pass both on.`,
      })
    },
    'POST /audit/events': async ({ who, body, bodySha256 }) => {
      await audit.append(who, body.events, bodySha256)
      return { body: { accepted: body.events.length } }
    },
  } satisfies Partial<Handlers>
}
