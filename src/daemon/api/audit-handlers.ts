import { setTimeout as delay } from 'node:timers/promises'
import { type Audit, scopeFor } from '../audit/index.ts'
import { auditFile } from './audit-file.ts'
import type { Handlers } from './route.ts'

export function auditHandlers(audit: Audit) {
  return {
    'GET /api/audit/events': async ({ who, query }) => ({
      body: await audit.page(scopeFor(who), who.run ? { since: beforeRuns(), ...query } : query),
    }),
    'GET /api/audit/counts': async ({ who, query }) => ({ body: await audit.counts(scopeFor(who), query) }),
    'GET /api/audit/export': ({ who, query: { format, ...query } }) => ({
      headers: {
        'content-type': CONTENT_TYPES[format],
        'content-disposition': `attachment; filename="broker-audit.${format}"`,
      },
      chunks: () => auditFile(audit, scopeFor(who), query, format),
    }),
    'GET /api/audit/verify': ({ query }) => ({
      headers: { 'content-type': CONTENT_TYPES.jsonl },
      chunks: () => examined(audit, query),
    }),
  } satisfies Partial<Handlers>
}

/** A line each half second that says how far it has come, and one that says what was found. */
async function* examined(audit: Audit, { since }: { readonly since?: string | undefined }): AsyncGenerator<string> {
  let progress: { readonly checked: number; readonly of: number } | undefined
  const done = audit.examine({
    ...(since !== undefined && { since }),
    onProgress: (checked, of) => {
      progress = { checked, of }
    },
  })
  for (;;) {
    const result = await Promise.race([done, delay(TELL_EVERY_MS, undefined, { ref: false })])
    if (result !== undefined) {
      yield `${JSON.stringify(result)}\n`
      return
    }
    if (progress) yield `${JSON.stringify(progress)}\n`
  }
}

const TELL_EVERY_MS = 500

/** No run that goes on began before; no index has the events of one, and not all of the log is read for them. */
function beforeRuns(): string {
  return new Date(Date.now() - LONGEST_RUN_MS).toISOString()
}

const LONGEST_RUN_MS = 8 * 24 * 60 * 60 * 1000

const CONTENT_TYPES = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const
