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
  } satisfies Partial<Handlers>
}

/** No run that goes on began before; no index has the events of one, and not all of the log is read for them. */
function beforeRuns(): string {
  return new Date(Date.now() - LONGEST_RUN_MS).toISOString()
}

const LONGEST_RUN_MS = 8 * 24 * 60 * 60 * 1000

const CONTENT_TYPES = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const
