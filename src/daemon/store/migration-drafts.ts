import type { Migration } from './migrations.ts'

/** A definition that a migration had before it shipped, and what makes the migration's own of it. */
export interface Draft extends Migration {
  readonly after: readonly string[]
}

const WRONG_CODES = 'alter table claims add column wrong_codes integer not null default 0'
const LABEL = 'alter table identities add column label text'

const TABLES = [
  `create table accounts (
     principal_id text primary key references principals (id),
     email text not null unique,
     password_hash text not null,
     created_at text not null)`,
  `create table browser_sessions (
     id text primary key,
     token_hash text not null unique,
     csrf_hash text not null,
     principal_id text not null references principals (id),
     browser text not null,
     created_at text not null,
     last_seen_at text not null,
     expires_at text not null)`,
  `create index browser_sessions_by_principal on browser_sessions (principal_id)`,
  `create table browser_links (
     token_hash text primary key,
     principal_id text not null references principals (id),
     expires_at text not null)`,
  `create table sign_in_attempts (subject text primary key, attempts integer not null, last_at bigint not null)`,
  `create index audit_events_by_identity on audit_events (identity, seq)`,
  `create index audit_events_by_status on audit_events (status, seq)`,
]

const HOURS = [
  `create table audit_hours (
     hour text not null,
     principal_id text not null,
     event text not null,
     provider text not null,
     status text not null,
     count bigint not null,
     primary key (hour, principal_id, event, provider, status))`,
  `insert into audit_hours
     select substr(timestamp, 1, 13), principal_id, event, coalesce(provider, ''), status, count(*)
     from audit_events group by 1, 2, 3, 4, 5 on conflict do nothing`,
]

const HOURS_WITH_POSITIONS = [
  `create table audit_hours (
     hour text not null,
     principal_id text not null,
     event text not null,
     provider text not null,
     status text not null,
     count bigint not null,
     first_seq bigint not null,
     last_seq bigint not null,
     primary key (hour, principal_id, event, provider, status))`,
  `insert into audit_hours
     select substr(timestamp, 1, 13), principal_id, event, coalesce(provider, ''), status, count(*), min(seq), max(seq)
     from audit_events group by 1, 2, 3, 4, 5 on conflict do nothing`,
  `create index audit_hours_by_provider on audit_hours (provider, hour)`,
]

const HOURS_ANEW = ['drop table audit_hours', ...HOURS_WITH_POSITIONS]

const OPENED_BY = [
  `alter table browser_sessions add column opened_by text references identities (handle) on delete cascade`,
  `alter table browser_links add column opened_by text references identities (handle) on delete cascade`,
  `create index browser_links_by_principal on browser_links (principal_id)`,
  `create index sign_in_attempts_by_time on sign_in_attempts (last_at)`,
]

/** Homes that were made between releases have one of these. */
export const drafts: readonly Draft[] = [
  {
    name: '0003_accounts',
    statements: [WRONG_CODES, ...TABLES, ...HOURS],
    after: [LABEL, ...HOURS_ANEW, ...OPENED_BY],
  },
  {
    name: '0003_accounts',
    statements: [WRONG_CODES, LABEL, ...TABLES, ...HOURS],
    after: [...HOURS_ANEW, ...OPENED_BY],
  },
  {
    name: '0003_accounts',
    statements: [WRONG_CODES, LABEL, ...TABLES, ...HOURS_WITH_POSITIONS],
    after: OPENED_BY,
  },
]
