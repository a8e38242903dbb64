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
        begin: (write, end) => watch({ audit, accounts, who }, write, end),
      }),
    }),
  ]
}

interface Watched extends LiveOptions {
  readonly who: BrowserActor
}

function watch({ audit, accounts, who }: Watched, write: (text: string) => void, end: () => void): () => void {
  let told: number | undefined
  let toldAt = 0
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const look = async () => {
    const [head, isLive] = await Promise.all([audit.head(), accounts.isLive(who)])
    if (isOver) return
    if (!isLive) {
      end()
      return
    }
    const now = Date.now()
    if (head !== told) write(`event: change\ndata: {"seq":${head}}\n\n`)
    else if (now - toldAt >= SIGN_OF_LIFE_MS) write(': still here\n\n')
    if (head !== told || now - toldAt >= SIGN_OF_LIFE_MS) toldAt = now
    told = head
    timer = setTimeout(tick, LOOK_EVERY_MS)
  }
  // A store that is out of reach is met again by the browser's next try.
  const tick = () => void look().catch(end)
  write('retry: 1000\n\n')
  tick()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
