import * as z from 'zod'
import { BrokerError } from '../../protocol/index.ts'
import type { Accounts } from '../accounts/index.ts'
import { resultPage, sessionPage } from '../pages/index.ts'
import { toDashboard } from './opened-session.ts'
import { page } from './page-reply.ts'
import { type CallHeaders, type RawReply, type Route, route } from './route.ts'
import type { CookieOptions } from './session-cookie.ts'

export interface SessionLinkOptions extends CookieOptions {
  readonly accounts: Accounts
}

const byLink = z.strictObject({ token: z.string().max(100) })

/** Returns the routes to which a link leads that signs a browser in. */
export function sessionLinkRoutes(options: SessionLinkOptions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/session/{token}',
      access: 'anyone',
      isPage: true,
      isReturn: true,
      actsOnGet: true,
      perSource: 'pages',
      summary:
        'Where that link leads: sets the session cookie and goes on to the dashboard. From another site, it asks first.',
      params: byLink,
      reply: z.unknown(),
      handle: ({ params: { token }, headers }) =>
        headers.isFromElsewhere ? page(200, sessionPage(`/api/session/${token}`)) : openLink(options, token, headers),
    }),
    route({
      method: 'POST',
      path: '/api/session/{token}',
      access: 'anyone',
      isPage: true,
      perSource: 'pages',
      summary: 'The same, by the button of the page that asked.',
      params: byLink,
      takesForm: true,
      reply: z.unknown(),
      handle: ({ params: { token }, headers }) => openLink(options, token, headers),
    }),
  ]
}

async function openLink(options: SessionLinkOptions, token: string, headers: CallHeaders): Promise<RawReply> {
  const opened = await options.accounts.openLink(token, headers.caller)
  return opened ? toDashboard(options, opened) : usedLink(headers.wantsHtml)
}

function usedLink(wantsHtml: boolean): RawReply {
  const [message, hint] = ['This link was used, or is older than a minute', 'Run `broker dashboard` for a new one.']
  if (!wantsHtml) throw new BrokerError('NotFoundError', message, { hint })
  return page(404, resultPage({ title: 'This link is over', message, hint, tone: 'failure' }))
}
