import * as z from 'zod'
import { auditCounts, auditCountsQuery, auditExportQuery, auditPage, auditQuery } from '../../schemas/index.ts'
import { type Audit, scopeFor } from '../audit/index.ts'
import { auditFile } from './audit-file.ts'
import { type Route, route } from './route.ts'

export function auditRoutes(audit: Audit): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/audit/events',
      access: 'principal',
      summary: 'Audit events, newest first: all of them for an admin, those of the own principal for a user.',
      query: auditQuery,
      reply: auditPage,
      handle: async ({ who, query }) => ({ body: await audit.page(scopeFor(who), query) }),
    }),
    route({
      method: 'GET',
      path: '/api/audit/counts',
      access: 'principal',
      summary: 'How many of these events each hour had, by event, provider and status.',
      query: auditCountsQuery,
      reply: auditCounts,
      handle: async ({ who, query }) => ({ body: await audit.counts(scopeFor(who), query) }),
    }),
    route({
      method: 'GET',
      path: '/api/audit/export',
      access: 'principal',
      summary: 'The same events as a file: JSON Lines, or CSV for a spreadsheet.',
      query: auditExportQuery,
      reply: z.unknown(),
      handle: ({ who, query: { format, ...query } }) => ({
        headers: {
          'content-type': CONTENT_TYPES[format],
          'content-disposition': `attachment; filename="broker-audit.${format}"`,
        },
        chunks: () => auditFile(audit, scopeFor(who), query, format),
      }),
    }),
  ]
}

const CONTENT_TYPES = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const
