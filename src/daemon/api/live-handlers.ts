import { setTimeout as delay } from 'node:timers/promises'
import { BrokerError, type BrowserActor } from '../../protocol/index.ts'
import type { Accounts } from '../accounts/index.ts'
import { type Audit, scopeFor } from '../audit/index.ts'
import type { Handlers } from './route.ts'

export interface LiveOptions {
  readonly audit: Audit
  readonly accounts: Accounts
}

/** Of one browser: a tab has one, and looks at the store for as long as it is open. */
const MOST_OPEN = 16
const LOOK_EVERY_MS = 500
/** What stands between browsers and daemons closes what is silent. */
const SIGN_OF_LIFE_MS = 15_000

/**
 * Tells a browser that something changed, so that it asks again: every change writes an audit event, at whichever daemon
 * of the store it happens. What changed is not told here, nor that there was what the browser's principal may not see.
 */
export function liveHandlers(options: LiveOptions) {
  const open = new Map<string, number>()
  return {
    'GET /api/live': ({ who }) => {
      const { sessionId } = who.browser
      if ((open.get(sessionId) ?? 0) >= MOST_OPEN) throw tooMany()
      return {
        headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
        chunks: (gone) => counted(open, sessionId, changes(options, who, gone)),
      }
    },
  } satisfies Partial<Handlers>
}

async function* counted(open: Map<string, number>, key: string, chunks: AsyncIterable<string>): AsyncGenerator<string> {
  open.set(key, (open.get(key) ?? 0) + 1)
  try {
    yield* chunks
  } finally {
    const others = (open.get(key) ?? 1) - 1
    if (others === 0) open.delete(key)
    else open.set(key, others)
  }
}

function tooMany(): BrokerError {
  return new BrokerError('RateLimitedError', 'This browser has the live stream open too many times', {
    hint: 'Close a tab.',
    retryAfter: 5,
  })
}

/** Ends with the session; where the store is out of reach too, and the browser's next try meets it again. */
async function* changes(
  { audit, accounts }: LiveOptions,
  who: BrowserActor,
  gone: AbortSignal,
): AsyncGenerator<string> {
  const scope = scopeFor(who)
  yield 'retry: 1000\n\n'
  let told: number | undefined
  let toldAt = 0
  while (!gone.aborted && (await accounts.isLive(who))) {
    const head = await audit.head(scope)
    const isSilent = Date.now() - toldAt >= SIGN_OF_LIFE_MS
    if (head !== told || isSilent) {
      yield head === told ? ': still here\n\n' : `event: change\ndata: {"seq":${head}}\n\n`
      toldAt = Date.now()
      told = head
    }
    await delay(LOOK_EVERY_MS, undefined, { signal: gone }).catch(() => undefined)
  }
}
