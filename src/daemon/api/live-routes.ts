import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import type { Accounts, BrowserActor } from '../accounts/index.ts'
import type { Audit } from '../audit/index.ts'
import { type Route, route } from './route.ts'

export interface LiveOptions {
  readonly audit: Audit
  readonly accounts: Accounts
}

const LOOK_EVERY_MS = 500
/** What stands between browsers and daemons closes what is silent. */
const SIGN_OF_LIFE_MS = 15_000

/**
 * Tells a browser that something changed, so that it asks again: every change writes an audit event, at whichever daemon
 * of the store it happens. What changed is not told here: the answers to its questions are its own.
 */
export function liveRoutes({ audit, accounts }: LiveOptions): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/live',
      access: 'browser',
      summary:
        'Server-sent events: `change`, with the number of the newest audit event, at the beginning and with each.',
      reply: z.unknown(),
      handle: ({ who }) => ({
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
        chunks: changes({ audit, accounts, who }),
      }),
    }),
  ]
}

/** Ends with the session; where the store is out of reach too, and the browser's next try meets it again. */
async function* changes({
  audit,
  accounts,
  who,
}: LiveOptions & { readonly who: BrowserActor }): AsyncGenerator<string> {
  yield 'retry: 1000\n\n'
  let told: number | undefined
  let toldAt = 0
  while (await accounts.isLive(who)) {
    const head = await audit.head()
    const isSilent = Date.now() - toldAt >= SIGN_OF_LIFE_MS
    if (head !== told || isSilent) {
      yield head === told ? ': still here\n\n' : `event: change\ndata: {"seq":${head}}\n\n`
      toldAt = Date.now()
      told = head
    }
    await delay(LOOK_EVERY_MS)
  }
}
