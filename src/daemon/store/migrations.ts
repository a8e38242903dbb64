export type Dialect = 'sqlite' | 'postgres'

export interface Migration {
  readonly name: string
  readonly statements: readonly string[]
}

/**
 * Every change of the schema, oldest first. A migration that has shipped never changes; its name is its order. A
 * statement that changes rows and no definition leaves the same when it is run twice.
 */
export function migrationsFor(dialect: Dialect): readonly Migration[] {
  return [
    { name: '0001_first', statements: first(dialect) },
    { name: '0002_refreshes', statements: refreshes },
    { name: '0003_accounts', statements: accounts },
    { name: '0004_rights', statements: rights(dialect) },
    { name: '0005_attention', statements: attention },
    { name: '0006_pauses', statements: pauses },
    { name: '0007_releases', statements: releases },
    { name: '0008_chains', statements: chains(dialect) },
  ]
}

function first(dialect: Dialect): readonly string[] {
  const blob = dialect === 'sqlite' ? 'blob' : 'bytea'
  return [
    `create table principals (
       id text primary key,
       role text not null check (role in ('admin', 'user')),
       vault_id text not null unique,
       created_at text not null)`,
    `create table identities (
       handle text primary key,
       did text not null unique,
       principal_id text references principals (id),
       created_at text not null,
       last_used_at text)`,
    `create index identities_by_principal on identities (principal_id)`,
    `create table claims (
       token_hash text primary key,
       handle text not null references identities (handle) on delete cascade,
       expires_at text not null)`,
    `create table runs (
       id text primary key,
       did text not null unique,
       handle text not null references identities (handle) on delete cascade,
       grants text not null,
       created_at text not null,
       expires_at text not null,
       ended_at text)`,
    `create table vault_sources (
       id integer primary key check (id = 1),
       deployment_id text not null,
       source text not null,
       key_id text not null,
       created_at text not null)`,
    `create table data_keys (
       vault_id text not null,
       term integer not null,
       wrapped ${blob} not null,
       created_at text not null,
       primary key (vault_id, term))`,
    `create table manifests (
       vault_id text primary key,
       generation bigint not null,
       sealed ${blob} not null)`,
    `create table records (
       vault_id text not null,
       kind text not null,
       id text not null,
       version bigint not null,
       binding text not null,
       term integer not null,
       sealed ${blob} not null,
       primary key (vault_id, kind, id))`,
    `create table connections (
       vault_id text not null,
       provider text not null,
       connection text not null,
       is_default integer not null check (is_default in (0, 1)),
       auth_type text not null,
       flow text not null,
       base_url text,
       scopes text not null,
       account text,
       destination text not null,
       created_at text not null,
       updated_at text not null,
       expires_at text,
       last_used_at text,
       primary key (vault_id, provider, connection))`,
    `create unique index connections_one_default on connections (vault_id, provider) where is_default = 1`,
    `create table audit_events (
       seq bigint primary key,
       id text not null unique,
       timestamp text not null,
       event text not null,
       source text not null,
       provider text,
       connection text,
       identity text not null,
       principal_id text not null,
       status text not null,
       reason text,
       run_id text,
       request text,
       hash text not null)`,
    `create index audit_events_by_principal on audit_events (principal_id, seq)`,
    `create index audit_events_by_event on audit_events (event, seq)`,
    `create index audit_events_by_provider on audit_events (provider, seq)`,
    `create table audit_head (id integer primary key check (id = 1), seq bigint not null, hash text not null)`,
    `insert into audit_head (id, seq, hash) values (1, 0, '') on conflict do nothing`,
    ...appendOnly(dialect),
  ]
}

const refreshes: readonly string[] = [
  `alter table connections add column refreshable integer not null default 0 check (refreshable in (0, 1))`,
  `alter table connections add column refresh_due_at text`,
  `alter table connections add column problem text check (problem in ('needs_login'))`,
  `create index connections_by_refresh on connections (refresh_due_at) where refresh_due_at is not null`,
  `create table refreshes (
     vault_id text not null,
     provider text not null,
     connection text not null,
     epoch bigint not null,
     leased_until bigint,
     sent_version bigint,
     failures integer not null,
     retry_at bigint,
     forced_at bigint,
     forced_pause bigint,
     primary key (vault_id, provider, connection))`,
]

const accounts: readonly string[] = [
  `alter table claims add column wrong_codes integer not null default 0`,
  `alter table identities add column label text`,
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
     expires_at text not null,
     opened_by text references identities (handle) on delete cascade)`,
  `create index browser_sessions_by_principal on browser_sessions (principal_id)`,
  `create table browser_links (
     token_hash text primary key,
     principal_id text not null references principals (id),
     expires_at text not null,
     opened_by text references identities (handle) on delete cascade)`,
  `create index browser_links_by_principal on browser_links (principal_id)`,
  `create table sign_in_attempts (subject text primary key, attempts integer not null, last_at bigint not null)`,
  `create index sign_in_attempts_by_time on sign_in_attempts (last_at)`,
  `create index audit_events_by_identity on audit_events (identity, seq)`,
  `create index audit_events_by_status on audit_events (status, seq)`,
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

/**
 * SQLite cannot take a primary key away, so tables are made anew beside the old ones. What refers to a table goes before
 * it: dropping a table deletes its rows, and theirs with them.
 */
function rights(dialect: Dialect): readonly string[] {
  const newId = dialect === 'sqlite' ? 'lower(hex(randomblob(16)))' : `replace(gen_random_uuid()::text, '-', '')`
  return [
    `alter table principals add column local_owner integer not null default 0 check (local_owner in (0, 1))`,
    `alter table principals add column epoch bigint not null default 0`,
    `alter table principals add column mac text`,
    `update principals set local_owner = 1
     where not exists (select 1 from principals where local_owner = 1) and id = (
       select principals.id from principals left join accounts on accounts.principal_id = principals.id
       where accounts.principal_id is null limit 1)`,
    `create unique index principals_one_local_owner on principals (local_owner) where local_owner = 1`,
    `alter table accounts add column mac text`,
    `create table identities_next (
       id text primary key,
       handle text not null,
       did text not null unique,
       principal_id text references principals (id),
       created_at text not null,
       last_used_at text,
       label text,
       mac text,
       unique (principal_id, handle))`,
    `insert into identities_next (id, handle, did, principal_id, created_at, last_used_at, label)
     select ${newId}, handle, did, principal_id, created_at, last_used_at, label from identities where true
     on conflict do nothing`,
    `create table claims_next (
       token_hash text primary key,
       identity_id text not null references identities_next (id) on delete cascade,
       expires_at text not null,
       wrong_codes integer not null default 0,
       mac text)`,
    `insert into claims_next (token_hash, identity_id, expires_at, wrong_codes)
     select token_hash, identities_next.id, expires_at, wrong_codes
     from claims join identities_next on identities_next.handle = claims.handle where true on conflict do nothing`,
    `create table runs_next (
       id text primary key,
       did text not null unique,
       identity_id text not null references identities_next (id) on delete cascade,
       grants text not null,
       epoch bigint not null default 0,
       created_at text not null,
       expires_at text not null,
       ended_at text,
       mac text)`,
    `insert into runs_next (id, did, identity_id, grants, created_at, expires_at, ended_at)
     select runs.id, runs.did, identities_next.id, grants, runs.created_at, expires_at, ended_at
     from runs join identities_next on identities_next.handle = runs.handle where true on conflict do nothing`,
    `create table browser_sessions_next (
       id text primary key,
       token_hash text not null unique,
       csrf_hash text not null,
       principal_id text not null references principals (id),
       identity_id text references identities_next (id) on delete cascade,
       browser text not null,
       epoch bigint not null default 0,
       created_at text not null,
       last_seen_at text not null,
       expires_at text not null,
       mac text)`,
    `insert into browser_sessions_next
       (id, token_hash, csrf_hash, principal_id, identity_id, browser, created_at, last_seen_at, expires_at)
     select browser_sessions.id, token_hash, csrf_hash, browser_sessions.principal_id, identities_next.id, browser,
       browser_sessions.created_at, last_seen_at, expires_at
     from browser_sessions left join identities_next on identities_next.handle = browser_sessions.opened_by where true
     on conflict do nothing`,
    `create table browser_links_next (
       token_hash text primary key,
       principal_id text not null references principals (id),
       identity_id text references identities_next (id) on delete cascade,
       epoch bigint not null default 0,
       expires_at text not null,
       mac text)`,
    `insert into browser_links_next (token_hash, principal_id, identity_id, expires_at)
     select token_hash, browser_links.principal_id, identities_next.id, expires_at
     from browser_links left join identities_next on identities_next.handle = browser_links.opened_by where true
     on conflict do nothing`,
    `drop table browser_links`,
    `drop table browser_sessions`,
    `drop table runs`,
    `drop table claims`,
    `drop table identities`,
    `alter table identities_next rename to identities`,
    `alter table claims_next rename to claims`,
    `alter table runs_next rename to runs`,
    `alter table browser_sessions_next rename to browser_sessions`,
    `alter table browser_links_next rename to browser_links`,
    `create index browser_sessions_by_principal on browser_sessions (principal_id)`,
    `create index browser_links_by_principal on browser_links (principal_id)`,
    `alter table audit_events add column agent_principal_id text`,
    `create index audit_events_by_agent_principal on audit_events (agent_principal_id, seq)
     where agent_principal_id is not null`,
    `create table audit_hours_next (
       hour text not null,
       principal_id text not null,
       agent_principal_id text not null,
       event text not null,
       provider text not null,
       status text not null,
       count bigint not null,
       first_seq bigint not null,
       last_seq bigint not null,
       primary key (hour, principal_id, agent_principal_id, event, provider, status))`,
    `insert into audit_hours_next
     select hour, principal_id, '', event, provider, status, count, first_seq, last_seq from audit_hours where true
     on conflict do nothing`,
    `drop table audit_hours`,
    `alter table audit_hours_next rename to audit_hours`,
    `create index audit_hours_by_provider on audit_hours (provider, hour)`,
  ]
}

const attention: readonly string[] = [
  `alter table connections add column allowed text`,
  `alter table connections add column problem_reason text`,
  `alter table refreshes add column failing_since bigint`,
  `alter table refreshes add column failure_reason text`,
]

const pauses: readonly string[] = [`alter table refreshes add column retry_pause bigint`]

const releases: readonly string[] = [
  `alter table audit_events add column details text`,
  `create table release_numbers (
     id integer primary key check (id = 1),
     next bigint not null)`,
  `insert into release_numbers values (1, 1) on conflict do nothing`,
  `create table run_channels (
     run_id text primary key references runs (id) on delete cascade,
     seen_at bigint not null)`,
]

/** On SQLite there is one chain: nothing goes on beside anything there. */
function chains(dialect: Dialect): readonly string[] {
  return [
    `alter table audit_events add column chain integer`,
    `create table audit_totals (
       hour text not null,
       chain integer not null,
       event text not null,
       provider text not null,
       status text not null,
       count bigint not null,
       first_seq bigint not null,
       last_seq bigint not null,
       primary key (hour, chain, event, provider, status))`,
    `insert into audit_totals
       select hour, 1, event, provider, status, sum(count), min(first_seq), max(last_seq)
       from audit_hours group by hour, event, provider, status on conflict do nothing`,
    `create index audit_totals_by_provider on audit_totals (provider, hour)`,
    `create table audit_roots (
       number bigint primary key,
       made_at text not null,
       heads text not null,
       hash text not null,
       mac text not null)`,
    ...(dialect === 'sqlite' ? appendOnlySqlite('audit_roots') : chainsOfPostgres),
  ]
}

const chainsOfPostgres: readonly string[] = [
  `create trigger audit_roots_append_only before update or delete or truncate on audit_roots
     for each statement execute function refuse_audit_change()`,
  `alter table audit_head drop constraint audit_head_id_check`,
  `insert into audit_head (id, seq, hash) select id, 0, '' from generate_series(2, 16) as id on conflict do nothing`,
  `create sequence audit_seq`,
  `select setval('audit_seq', (select coalesce(max(seq), 0) + 1 from audit_events), false)`,
]

function appendOnly(dialect: Dialect): readonly string[] {
  if (dialect === 'postgres') {
    return [
      `create function refuse_audit_change() returns trigger language plpgsql as
       $$ begin raise exception 'audit events are append-only'; end $$`,
      `create trigger audit_events_append_only before update or delete or truncate on audit_events
       for each statement execute function refuse_audit_change()`,
    ]
  }
  return appendOnlySqlite('audit_events')
}

function appendOnlySqlite(table: 'audit_events' | 'audit_roots'): readonly string[] {
  return ['update', 'delete'].map(
    (change) => `create trigger ${table}_no_${change} before ${change} on ${table}
       begin select raise(abort, 'audit events are append-only'); end`,
  )
}
