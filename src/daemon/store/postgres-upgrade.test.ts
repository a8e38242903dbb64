import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import pg from 'pg'
import { suiteCleanup } from '../../../test/daemon-under-test.ts'
import { type Postgres, startPostgres } from '../../../test/postgres-server.ts'
import { whyNot } from '../../../tools/available.ts'
import { Secret } from '../../protocol/index.ts'
import { drafts } from './migration-drafts.ts'
import { migrationsFor } from './migrations.ts'
import { openStore } from './open-store.ts'

const migrations = migrationsFor('postgres')

const EVENTS = `insert into audit_events (seq, id, timestamp, event, source, identity, principal_id, status, hash)
  values (1, 'e-1', '2026-11-21T09:10:00.000Z', 'provider.login', 'internal', 'ada', 'p-1', 'success', 'x'),
         (2, 'e-2', '2026-11-21T09:20:00.000Z', 'provider.login', 'internal', 'ada', 'p-1', 'success', 'y')`

const STARTS = [
  ...migrations.slice(0, -1).map(({ name }, at) => ({ title: `after ${name}`, from: migrations.slice(0, at + 1) })),
  ...drafts.map((draft, at) => ({
    title: `after definition ${at + 1} of before the release of ${draft.name}`,
    from: [
      ...migrations.slice(
        0,
        migrations.findIndex(({ name }) => name === draft.name),
      ),
      draft,
    ],
  })),
]

describe('a store on Postgres', { skip: whyNot('postgres') }, () => {
  const cleanup = suiteCleanup()
  let postgres: Postgres
  before(async () => {
    postgres = await startPostgres(cleanup)
  })

  for (const [at, { title, from }] of STARTS.entries()) {
    it(`${title}, is brought up to date with its rows, beside tables of others, by two daemons at once`, async () => {
      const clean = await postgres.newDatabase(`clean_${at}`)
      await open(clean)
      const url = await postgres.newDatabase(`old_${at}`)
      await ask(url, 'create table mine (x int)')
      for (const { statements } of from) for (const statement of statements) await ask(url, statement)
      await ask(url, EVENTS)
      await ask(url, 'create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)')
      for (const [n, { name }] of from.entries()) {
        await ask(url, `insert into kysely_migration values ('${name}', '2026-11-21T09:00:0${n}.000Z')`)
      }

      await Promise.all([open(url), open(url)])

      assert.deepEqual(await definitions(url), await definitions(clean))
      assert.deepEqual(await ask(url, 'select count(*)::int as n from audit_events'), [{ n: 2 }])
      const author = await ask(url, 'select distinct broker from kysely_migration where broker is not null')
      assert.deepEqual(author, from.length < migrations.length ? [{ broker: '9.9.9' }] : [])
    })
  }

  it('that a newer version has changed is refused with that version', async () => {
    const url = await postgres.newDatabase('newer')
    await open(url)
    await ask(url, `insert into kysely_migration values ('0099_later', '2099-01-01T00:00:00.000Z', '7.0.0')`)
    await assert.rejects(open(url), /Broker 7\.0\.0 has changed it \("0099_later"\), and this is Broker 9\.9\.9/)
  })
})

async function open(url: string): Promise<void> {
  const store = await openStore({ kind: 'postgres', url: new Secret(url) }, { version: '9.9.9' })
  assert.equal(await store.schemaIsCurrent(), true)
  await store.close()
}

async function ask(url: string, query: string) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(query)).rows
  } finally {
    await client.end()
  }
}

function definitions(url: string) {
  return ask(
    url,
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
     where table_schema = 'public' and table_name not in ('mine', 'kysely_migration') union all
     select tablename, indexname, indexdef, '', '' from pg_indexes where schemaname = 'public' order by 1, 2`,
  )
}
