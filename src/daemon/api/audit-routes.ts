import { auditCounts, auditCountsQuery, auditPage, auditQuery } from '../../schemas/index.ts'
import { type Audit, scopeFor } from '../audit/index.ts'
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
  ]
}
