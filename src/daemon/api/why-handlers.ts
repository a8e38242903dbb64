import { authority, HTTP_PORT, HTTPS_PORT } from '../../network/index.ts'
import { type Actor, BrokerError } from '../../protocol/index.ts'
import type { ExplainQuery } from '../../schemas/index.ts'
import type { Credentials, ExplainedRequest } from '../credentials/index.ts'
import type { Principals } from '../principals/index.ts'
import type { Handlers } from './route.ts'

/** Why a request is, or would be, given a credential or not. */
export function whyHandlers(credentials: Credentials, principals: Principals) {
  return {
    'GET /api/why': async ({ who, query }) => {
      await requireOwn(principals, who, query.identity)
      return { body: await credentials.explain(who, requestIn(query)) }
    },
  } satisfies Partial<Handlers>
}

/** Agents of one principal have the same connections. Others' answer as absent ones. */
async function requireOwn(principals: Principals, who: Actor, handle: string | undefined): Promise<void> {
  if (handle === undefined || handle === who.identity) return
  const own = who.run ? [] : await principals.list(who)
  if (!own.some(({ identity }) => identity === handle)) {
    throw new BrokerError('NotFoundError', `There is no identity "${handle}"`)
  }
}

function requestIn({ url, host, port, path }: ExplainQuery): ExplainedRequest {
  if (url === undefined && host !== undefined) {
    return {
      ...authority(host, port ?? HTTPS_PORT),
      ...(path !== undefined && { path: withoutQuery(path) }),
      isPlain: false,
    }
  }
  const parsed = host === undefined ? URL.parse(url ?? '') : null
  if (!parsed || !/^(?:https?|wss?):$/.test(parsed.protocol)) {
    throw new BrokerError('InvalidRequestError', 'Name one request: by "url", or by "host" with "port" and "path"')
  }
  const isPlain = parsed.protocol === 'http:' || parsed.protocol === 'ws:'
  return {
    ...authority(parsed.hostname, Number(parsed.port || (isPlain ? HTTP_PORT : HTTPS_PORT))),
    path: parsed.pathname,
    isPlain,
  }
}

function withoutQuery(path: string): string {
  return path.split('?', 1)[0] ?? path
}
