import { auditPage, auditQuery } from '../../schemas/index.ts'
import { type Audit, scopeFor } from '../audit/index.ts'
import { type Route, route } from './route.ts'

export function auditRoutes(audit: Audit): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/audit/events',
      access: 'agent',
      summary: 'Audit events, newest first: all of them for an admin, those of the own principal for a user.',
      query: auditQuery,
      reply: auditPage,
      handle: async ({ who, query }) => ({ body: await audit.page(scopeFor(who), query) }),
    }),
  ]
}
