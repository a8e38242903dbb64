export const FLOWS = ['pkce', 'device_code', 'dcr_pkce', 'api_key'] as const
export type FlowName = (typeof FLOWS)[number]

/** How tokens are granted: to a person who agrees, or to the client itself (RFC 6749 section 4.4). */
export const GRANTS = ['authorization_code', 'client_credentials'] as const

export const AUTH_TYPES = ['oauth2', 'api_key'] as const
export type AuthType = (typeof AUTH_TYPES)[number]

/** Ways in which single providers depart from OAuth; what each means is in `daemon/flows` and in docs/providers.md. */
export const QUIRKS = [
  'json_requests',
  'tokens_in_authed_user',
  'tokens_in_body',
  'tokens_in_data',
  'client_id_as_client_key',
  'client_id_as_app_id',
  'grant_type_as_type',
  'no_grant_type',
  'device_scopes',
  'device_code_at_token_url',
  'account_credentials',
  'api_url_in_instance_url',
  'api_url_in_api_domain',
  'api_url_in_base_url',
  'api_url_in_host',
] as const
export type QuirkName = (typeof QUIRKS)[number]

export const ROLES = ['admin', 'user'] as const
export type Role = (typeof ROLES)[number]

export const ENCRYPTION_SOURCES = ['env', 'keyring', 'local_key', 'passphrase', 'command'] as const
export type EncryptionSource = (typeof ENCRYPTION_SOURCES)[number]

export const ENCRYPTION_MODES = ['auto', ...ENCRYPTION_SOURCES] as const
export type EncryptionMode = (typeof ENCRYPTION_MODES)[number]

/** The value a child sees where the real credential will be, unless the definition has its own. */
export const DEFAULT_PLACEHOLDER = 'broker-proxy-managed'

export const DEFAULT_PORT = 7998

/** Path at which a run's proxy says what it is, to whom it serves. */
export const RUN_DESCRIPTION_PATH = '/run'
/** With the did:key of a run that is to be started within this one behind it: the proxy says with its own key that it is. */
export const INNER_RUN_PATH = `${RUN_DESCRIPTION_PATH}?inner=`

/** Every value of `event` (contract section 11). */
export const AUDIT_EVENTS = [
  'provider.login',
  'provider.login_failed',
  'provider.logout',
  'provider.refreshed',
  'provider.refresh_failed',
  'provider.revoked',
  'provider.registered',
  'provider.removed',
  'provider.reset',
  'catalogue.updated',
  'catalogue.reset',
  'connection.default_set',
  'connection.revealed',
  'connection.approved',
  'identity.registered',
  'identity.claimed',
  'identity.removed',
  'identity.refused',
  'account.registered',
  'account.login',
  'account.login_failed',
  'account.logout',
  'account.password_reset',
  'onboard.imported',
  'run.started',
  'run.ended',
  'proxy.request',
  'proxy.denied',
  'credential.released',
  'audit.gap',
  'vault.rotated',
  'vault.rekeyed',
  'vault.locked',
  'vault.unlocked',
  'vault.restored',
  'backup.made',
  'backup.restored',
  'rights.sealed',
] as const
export type AuditEventName = (typeof AUDIT_EVENTS)[number]

/** The only events a proxy may ship; all others are written by the daemon's own rooms. */
export const PROXY_EVENTS = ['proxy.request', 'proxy.denied'] as const satisfies readonly AuditEventName[]

/** Forms in which the audit log is written for other programs. */
export const EXPORT_FORMATS = ['jsonl', 'csv', 'cef', 'ocsf', 'otlp'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const AUDIT_STATUSES = ['success', 'failure', 'denied'] as const
export type AuditStatus = (typeof AUDIT_STATUSES)[number]
