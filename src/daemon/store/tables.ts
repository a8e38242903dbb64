/**
 * Times are ISO-8601 UTC text, booleans 0 or 1, lists and objects JSON text: the same on SQLite and Postgres. Where a row
 * says who is who, `mac` is over its table and columns; null in rows of before, until the vault is open for the first time.
 */
export interface Tables {
  principals: PrincipalRow
  identities: IdentityRow
  claims: ClaimRow
  accounts: AccountRow
  browser_sessions: BrowserSessionRow
  browser_links: BrowserLinkRow
  sign_in_attempts: SignInAttemptsRow
  runs: RunRow
  run_channels: RunChannelRow
  release_numbers: ReleaseNumbersRow
  vault_sources: VaultSourceRow
  data_keys: DataKeyRow
  manifests: ManifestRow
  records: RecordRow
  connections: ConnectionRow
  refreshes: RefreshRow
  audit_events: AuditEventRow
  audit_head: AuditHeadRow
  audit_hours: AuditHourRow
  audit_totals: AuditTotalRow
  audit_roots: AuditRootRow
}

export interface PrincipalRow {
  id: string
  role: 'admin' | 'user'
  vault_id: string
  created_at: string
  /** 1 for the one that the home's bootstrap secret stands for. */
  local_owner: number
  /** Grows when everything that was opened before must end. */
  epoch: number
  mac: string | null
}

export interface IdentityRow {
  id: string
  /** Unique within its principal. */
  handle: string
  did: string
  /** Null until the identity is claimed. */
  principal_id: string | null
  created_at: string
  last_used_at: string | null
  /** What its owner calls it. */
  label: string | null
  mac: string | null
}

interface ClaimRow {
  /** SHA-256 of the token, hex: the token itself is only in the claim's URL. */
  token_hash: string
  identity_id: string
  expires_at: string
  /** Confirmations with another code. */
  wrong_codes: number
  mac: string | null
}

interface AccountRow {
  principal_id: string
  /** In one spelling: NFKC, lower case. */
  email: string
  /** PHC string of Argon2id. */
  password_hash: string
  created_at: string
  mac: string | null
}

/** Tokens are kept as SHA-256, hex. */
export interface BrowserSessionRow {
  id: string
  token_hash: string
  csrf_hash: string
  principal_id: string
  /** The agent whose link opened it; null where somebody typed a password. */
  identity_id: string | null
  browser: string
  /** Of the principal, when it was opened. */
  epoch: number
  created_at: string
  last_seen_at: string
  expires_at: string
  mac: string | null
}

interface BrowserLinkRow {
  token_hash: string
  principal_id: string
  /** The agent that asked for it. */
  identity_id: string | null
  /** Of the principal, when it was made. */
  epoch: number
  expires_at: string
  mac: string | null
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
  identity_id: string
  /** JSON: `{only?, connections?}`. */
  grants: string
  /** Of the principal, when it was started. */
  epoch: number
  created_at: string
  expires_at: string
  ended_at: string | null
  mac: string | null
}

/** A run that has, or had, a channel to a daemon. */
interface RunChannelRow {
  run_id: string
  /** When a daemon last had it, in milliseconds since 1970 by the database's clock. */
  seen_at: number
}

interface ReleaseNumbersRow {
  /** Always 1. */
  id: number
  /** The first number that no daemon has taken. */
  next: number
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
  /**
   * Or `rights`: the key of the rows that say who is who; `passphrase`: the master key, wrapped under one; `former`: where
   * a master key of before is still to be removed from, as JSON; `audit`: a key by which the audit log was signed once.
   */
  vault_id: string
  term: number
  wrapped: Uint8Array
  created_at: string
}

interface ManifestRow {
  /** Or `rights`, or `rights/` and a principal: what is sealed then is a list of rows. */
  vault_id: string
  /** Grows by one with each change of the vault's records, or of the list. */
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
  /** Why, one sentence; null also where an earlier version wrote the problem down. */
  problem_reason: string | null
  /** What `destination` is the digest of, JSON; null where an earlier version bound the credential. */
  allowed: string | null
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
  /** When the first of them was, and what the last one was about; null where there is none. */
  failing_since: number | null
  failure_reason: string | null
  /** Not to be tried again before. */
  retry_at: number | null
  /** How long that was meant to be; null where an earlier version wrote it down. */
  retry_pause: number | null
  /** When a refresh was last forced by a credential that its host refused, and how long to wait for the next such. */
  forced_at: number | null
  forced_pause: number | null
}

export interface AuditEventRow {
  /** Grows with each event of a chain, and is given once for all of them. */
  seq: number
  id: string
  timestamp: string
  event: string
  source: string
  provider: string | null
  connection: string | null
  identity: string
  /** Whose vault it is about. */
  principal_id: string
  /** Whose agent acted, where that is another. */
  agent_principal_id: string | null
  status: string
  reason: string | null
  run_id: string | null
  request: string | null
  /** JSON object: further members of the event, by its kind. Null where there are none. */
  details: string | null
  /** Number of its chain; null in the first one, which was the only one once. */
  chain: number | null
  /** SHA-256, hex, over the hash of the row before in its chain and all columns of this one. */
  hash: string
}

/** Of a chain: its last event. `seq` is 0 where it has none. */
interface AuditHeadRow {
  /** Number of the chain: 1 on SQLite, 1 to 16 on Postgres. */
  id: number
  seq: number
  hash: string
}

/** How many events an hour had, so that a picture of a month need not count a million rows. */
interface AuditHourRow {
  /** Beginning of the hour, ISO-8601 to the hour: `2026-11-21T09`. */
  hour: string
  principal_id: string
  /** Empty where it is the same. */
  agent_principal_id: string
  event: string
  /** Empty where the event has none. */
  provider: string
  status: string
  count: number
  /** Of the events that are counted here: where in the log they are. */
  first_seq: number
  last_seq: number
}

/** The same for all principals together, so that a picture of everything is not read from a row for each of them. */
interface AuditTotalRow {
  hour: string
  /** Which chain's: writers of different ones are not in each other's way. 0 where those of all were added up. */
  chain: number
  event: string
  provider: string
  status: string
  count: number
  first_seq: number
  last_seq: number
}

/** What the heads of all chains were, with a MAC by the deployment's key: whoever changes what is below it needs that. */
interface AuditRootRow {
  /** Grows by one. */
  number: number
  made_at: string
  /** JSON: `[chain, seq, hash]` of each chain that has events. */
  heads: string
  /** SHA-256, hex, over the hash of the root before and the columns of this one. */
  hash: string
  /** Of `hash`, hex. */
  mac: string
}
