import type { AuditEvent } from '../schemas/index.ts'

/** What happened, for people: the event's name in words, and what it was about. */
export function sentenceOf({ event, provider, request }: AuditEvent): string {
  const words = event.replaceAll(/[._]/g, ' ')
  const about = request ? `${request.method} ${request.host}` : provider
  return about === undefined ? words : `${words}: ${about}`
}
