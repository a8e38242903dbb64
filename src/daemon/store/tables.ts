/** Times are ISO-8601 UTC text, booleans 0 or 1, lists and objects JSON text: the same on SQLite and Postgres. */
export interface Tables {
  principals: PrincipalRow
  identities: IdentityRow
  claims: ClaimRow
  accounts: AccountRow
  browser_sessions: BrowserSessionRow
  browser_links: BrowserLinkRow
  sign_in_attempts: SignInAttemptsRow
  runs: RunRow
  vault_sources: VaultSourceRow
  data_keys: DataKeyRow
  manifests: ManifestRow
  records: RecordRow
  connections: ConnectionRow
  refreshes: RefreshRow
  audit_events: AuditEventRow
  audit_head: AuditHeadRow
  audit_hours: AuditHourRow
}

interface PrincipalRow {
  id: string
  role: 'admin' | 'user'
  vault_id: string
  created_at: string
}

export interface IdentityRow {
  handle: string
  did: string
  /** Null until the identity is claimed. */
  principal_id: string | null
  created_at: string
  last_used_at: string | null
  /** What its owner calls it. */
  label: string | null
}

interface ClaimRow {
  /** SHA-256 of the token, hex: the token itself is only in the claim's URL. */
  token_hash: string
  handle: string
  expires_at: string
  /** Confirmations with another code. */
  wrong_codes: number
}

interface AccountRow {
  principal_id: string
  /** In one spelling: NFKC, lower case. */
  email: string
  /** PHC string of Argon2id. */
  password_hash: string
  created_at: string
}

/** Tokens are kept as SHA-256, hex. */
interface BrowserSessionRow {
  id: string
  token_hash: string
  csrf_hash: string
  principal_id: string
  /** The agent whose link opened it; null where somebody typed a password. */
  opened_by: string | null
  browser: string
  created_at: string
  last_seen_at: string
  expires_at: string
}

interface BrowserLinkRow {
  token_hash: string
  principal_id: string
  expires_at: string
  /** The agent that asked for it. */
  opened_by: string | null
}

interface SignInAttemptsRow {
  /**
   * Kind of what is counted and its SHA-256, hex: nobody who tried is named. `unclaimed <source> <did>` notes where an
   * identity came from.
   */
  subject: string
  attempts: number
  /** Milliseconds since 1970. */
  last_at: number
}

export interface RunRow {
  id: string
  /** did:key of the run's own ephemeral key. */
  did: string
  handle: string
  /** JSON: `{only?, connections?}`. */
  grants: string
  created_at: string
  expires_at: string
  ended_at: string | null
}

interface VaultSourceRow {
  /** Always 1: a deployment has one master key. */
  id: number
  deployment_id: string
  source: string
  /** First 8 bytes of a MAC by the master key, hex: tells another key without telling anything of this one. */
  key_id: string
  created_at: string
}

interface DataKeyRow {
  vault_id: string
  term: number
  wrapped: Uint8Array
  created_at: string
}

interface ManifestRow {
  vault_id: string
  /** Grows by one with each change of the vault's records. */
  generation: number
  sealed: Uint8Array
}

export interface RecordRow {
  vault_id: string
  kind: string
  id: string
  version: number
  /** What the credential is bound to: the digest of where it may go. */
  binding: string
  term: number
  sealed: Uint8Array
}

export interface ConnectionRow {
  vault_id: string
  provider: string
  connection: string
  is_default: number
  auth_type: string
  flow: string
  base_url: string | null
  scopes: string
  account: string | null
  destination: string
  created_at: string
  updated_at: string
  /** Of the access token. */
  expires_at: string | null
  last_used_at: string | null
  /** Whether there is a refresh token. */
  refreshable: number
  /** When to refresh, some time ahead of `expires_at`. */
  refresh_due_at: string | null
  problem: 'needs_login' | null
}

/** How far the refresh of a connection is. Times are milliseconds since 1970, by the database's clock. */
export interface RefreshRow {
  vault_id: string
  provider: string
  connection: string
  /** Grows by one with each lease: tells the holder of one from the holder of the next. */
  epoch: number
  /** Nobody else may spend the refresh token until then; null where nobody does. */
  leased_until: number | null
  /** The journal: the version of the record whose refresh token may be spent, of which no answer was stored. */
  sent_version: number | null
  /** In a row. */
  failures: number
  /** Not to be tried again before. */
  retry_at: number | null
  /** When a refresh was last forced by a credential that its host refused, and how long to wait for the next such. */
  forced_at: number | null
  forced_pause: number | null
}

export interface AuditEventRow {
  seq: number
  id: string
  timestamp: string
  event: string
  source: string
  provider: string | null
  connection: string | null
  identity: string
  principal_id: string
  status: string
  reason: string | null
  run_id: string | null
  request: string | null
  /** SHA-256, hex, over the hash of the row before and all columns of this one. */
  hash: string
}

interface AuditHeadRow {
  /** Always 1. */
  id: number
  seq: number
  hash: string
}

/** How many events an hour had, so that a picture of a month need not count a million rows. */
interface AuditHourRow {
  /** Beginning of the hour, ISO-8601 to the hour: `2026-11-21T09`. */
  hour: string
  principal_id: string
  event: string
  /** Empty where the event has none. */
  provider: string
  status: string
  count: number
  /** Of the events that are counted here: where in the log they are. */
  first_seq: number
  last_seq: number
}
