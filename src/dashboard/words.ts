import type { AuditEvent, Connection, Identity, Me, ProviderSummary } from '../schemas/index.ts'
import type { Tone } from './parts/badge.tsx'

interface Word {
  readonly text: string
  readonly tone: Tone
}

export const connectionStatus: Readonly<Record<Connection['status'], Word>> = {
  connected: { text: 'Connected', tone: 'good' },
  expired: { text: 'Expired', tone: 'warn' },
  needs_login: { text: 'Needs a login', tone: 'bad' },
  needs_approval: { text: 'Needs approval', tone: 'bad' },
}

export const flowWords: Readonly<Record<ProviderSummary['flow'], string>> = {
  api_key: 'API key',
  pkce: 'OAuth in the browser',
  device_code: 'OAuth with a code',
  dcr_pkce: 'OAuth in the browser',
}

export const eventWords: Readonly<Record<AuditEvent['event'], string>> = {
  'provider.login': 'Connected',
  'provider.login_failed': 'Login failed',
  'provider.logout': 'Logged out',
  'provider.refreshed': 'Token refreshed',
  'provider.refresh_failed': 'Refresh failed',
  'provider.revoked': 'Revoked',
  'provider.registered': 'Provider registered',
  'provider.removed': 'Provider removed',
  'provider.reset': 'Provider reset',
  'catalogue.updated': 'Catalogue updated',
  'catalogue.reset': 'Catalogue reset',
  'connection.default_set': 'Default changed',
  'connection.revealed': 'Credential shown',
  'connection.approved': 'Connection approved',
  'identity.registered': 'Agent registered',
  'identity.claimed': 'Agent claimed',
  'identity.removed': 'Agent removed',
  'identity.refused': 'Removed agent refused',
  'account.registered': 'Account made',
  'account.login': 'Signed in',
  'account.login_failed': 'Sign-in failed',
  'account.logout': 'Signed out',
  'account.password_reset': 'Password reset by the operator',
  'onboard.imported': 'Key imported',
  'run.started': 'Command started',
  'run.ended': 'Command ended',
  'credential.released': 'Credential given out',
  'audit.gap': 'Records missing',
  'proxy.request': 'Request',
  'proxy.denied': 'Request denied',
  'vault.rotated': 'Vault key rotated',
  'vault.rekeyed': 'Master key changed',
  'vault.locked': 'Vault locked',
  'vault.unlocked': 'Vault unlocked',
  'vault.restored': 'Vault restored',
  'backup.made': 'Backup made',
  'backup.restored': 'Backup restored',
  'rights.sealed': 'Rights sealed',
}

export const statusWords: Readonly<Record<AuditEvent['status'], Word>> = {
  success: { text: 'OK', tone: 'good' },
  failure: { text: 'Failed', tone: 'bad' },
  denied: { text: 'Denied', tone: 'warn' },
}

/** Words for the event itself; a daemon that is newer than this page may tell of others. */
export function eventWord(event: AuditEvent['event']): string {
  return eventWords[event] ?? event
}

/** An agent by its handle; the words in brackets that stand for no agent, in a sentence. */
export function whoDid({ identity, principal_id }: AuditEvent, me: Me): string {
  const isMine = principal_id === me.principal_id
  if (identity === '(browser)') return isMine ? 'you, in a browser' : 'somebody else, in a browser'
  if (identity === '(daemon)') return 'the daemon itself'
  return identity
}

/** What an event is about, a line each. */
export function aboutEvent({ dialled, event, overrides, request, reason }: AuditEvent): readonly string[] {
  const asked = request && `${request.method} ${request.host}${request.path}`
  const why = reason !== undefined && event === 'run.started' ? `$ ${reason}` : reason
  const where = dialled && `at ${dialled}`
  const own = overrides && `with ${Object.keys(overrides).join(', ')} of its own`
  return [asked, why, where, own].filter((line) => line !== undefined)
}

/** What the person at this browser calls the agent; undefined where that is its handle, or it is another's. */
export function agentLabel(event: AuditEvent, me: Me, agents: readonly Identity[]): string | undefined {
  if (event.principal_id !== me.principal_id) return undefined
  return agents.find(({ identity }) => identity === event.identity)?.label
}

/** As whom the connection of an event acts at its provider. */
export function accountOf(event: AuditEvent, me: Me, connections: readonly Connection[]): string | undefined {
  if (event.principal_id !== me.principal_id) return undefined
  const isOfEvent = (one: Connection) => one.provider === event.provider && one.connection === event.connection
  return connections.find(isOfEvent)?.account?.label
}

/** The end of a did:key, in groups: enough to compare by eye. */
export function fingerprint(did: string): string {
  return (did.slice(-16).match(/.{4}/g) ?? []).join(' ')
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
