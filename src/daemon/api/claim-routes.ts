import { createHmac, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { BrokerError, type Secret } from '../../protocol/index.ts'
import { confirmedClaim } from '../../schemas/index.ts'
import type { Accounts } from '../accounts/index.ts'
import { claimPage, notFoundPage, resultPage } from '../pages/index.ts'
import type { Principals } from '../principals/index.ts'
import { page } from './page-reply.ts'
import { type Route, route } from './route.ts'

export interface ClaimRoutesOptions {
  readonly principals: Principals
  readonly accounts: Accounts
}

const byToken = z.strictObject({ token: z.string().max(100) })
const claimView = z.strictObject({
  identity: z.string(),
  did: z.string(),
  code: z.string(),
  expires_at: z.string(),
})

/** Returns the routes by which an agent that registered itself comes to belong to an account (contract section 5). */
export function claimRoutes({ principals, accounts }: ClaimRoutesOptions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/claim/{token}',
      access: 'anyone',
      isPage: true,
      isReturn: true,
      perSource: 'pages',
      summary: 'The page of a claim: which agent asks, by which key, with which code. It attaches nothing.',
      params: byToken,
      reply: claimView,
      handle: async ({ params: { token }, headers: { wantsHtml, caller, isFromElsewhere } }) => {
        const { session } = caller
        const claim = await principals.claim(token)
        if (!claim && wantsHtml) return page(404, notFoundPage())
        if (!claim) throw new BrokerError('NotFoundError', 'There is no such claim, or it is over')
        const { handle, did, code, expiresAt } = claim
        if (!wantsHtml) return { body: { identity: handle, did, code, expires_at: expiresAt } }
        const actor = session && (await accounts.authenticate(session.reveal()).catch(notSignedIn))
        const action = `/api/claim/${token}`
        if (!session || !actor) {
          const signIn = `/?next=${encodeURIComponent(action)}`
          // A browser brings its cookie where one of our own pages has it come.
          return page(200, claimPage({ ...claim, signIn, ...(isFromElsewhere && { again: action }) }))
        }
        const account = actor.browser.email ?? 'the owner of this machine'
        const form = { action: `${action}/confirm`, csrf: formToken(session, token), account }
        return page(200, claimPage({ ...claim, form }))
      },
    }),
    route({
      method: 'POST',
      path: '/api/claim/{token}/confirm',
      access: 'browser',
      isPage: true,
      perSource: 'pages',
      summary: 'Attaches the agent to the signed-in account, once.',
      params: byToken,
      body: z.strictObject({ csrf: z.string().optional(), code: z.string().max(32).optional() }),
      takesForm: true,
      checksCsrf: true,
      reply: confirmedClaim,
      handle: async ({ who, params: { token }, body, headers: { wantsHtml, caller, csrf } }) => {
        const { session } = caller
        const isFromPage =
          session !== undefined && body.csrf !== undefined && same(body.csrf, formToken(session, token))
        if (!isFromPage) await accounts.requireCsrf(who, csrf)
        const code = body.code?.trim().toUpperCase()
        const confirm = () => principals.confirmClaim(who, token, code)
        const { handle } = await (code === undefined ? confirm() : accounts.byCode(who, confirm))
        if (!wantsHtml) return { body: { status: 'ok' as const, identity: handle } }
        const message = `The agent "${handle}" is yours, and acts for your account from now on.`
        const hint = 'The terminal goes on by itself. You can remove the agent at any time on the dashboard.'
        return page(200, resultPage({ title: 'Claimed', message, hint, tone: 'success' }))
      },
    }),
  ]
}

/** Good for this page's form alone, and only together with the session it was made for. */
function formToken(session: Secret, claim: string): string {
  return createHmac('sha256', session.reveal()).update(`claim ${claim}`).digest('base64url')
}

function same(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function notSignedIn(error: unknown): undefined {
  if (error instanceof BrokerError && error.name === 'AuthenticationFailedError') return undefined
  throw error
}
