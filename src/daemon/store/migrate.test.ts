import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { Kysely } from 'kysely'
import { BrokerError } from '../../protocol/index.ts'
import { migrate } from './migrate.ts'
import { drafts } from './migration-drafts.ts'
import { contentOf, definitionsOf, migrations, oldStore, ROWS } from './old-store.fixture.ts'
import { openStore } from './open-store.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { storeCopies } from './store-copies.ts'
import type { Tables } from './tables.ts'

const names = migrations.map(({ name }) => name)

interface Place {
  readonly folder: string
  readonly path: string
  readonly replayPath: string
  readonly copies: string
}

function place(t: TestContext): Place {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    path: join(folder, 'broker.db'),
    replayPath: join(folder, 'replay.db'),
    copies: join(folder, 'copies'),
  }
}

/** Opens the store as a daemon does; what it noted. */
async function upgrade({ path, replayPath }: Place, version = '9.9.9'): Promise<readonly string[]> {
  const notes: string[] = []
  const store = await openStore({ kind: 'sqlite', path, replayPath }, { version, note: (what) => notes.push(what) })
  assert.equal(await store.schemaIsCurrent(), true)
  await store.close()
  return notes
}

function look<Found>(path: string, at: (database: DatabaseSync) => Found): Found {
  const database = new DatabaseSync(path)
  try {
    return at(database)
  } finally {
    database.close()
  }
}

/** A store without rows that this version made. */
async function cleanDefinitions(t: TestContext) {
  const clean = place(t)
  await upgrade(clean)
  return look(clean.path, definitionsOf)
}

/** What stands before a migration's statements, whether they are whole and whether it says so. */
function leaveHalf(
  path: string,
  before: number,
  statements: readonly string[],
  recorded: 'recorded' | 'no table',
): void {
  const store = oldStore(path)
  for (const [at, migration] of migrations.slice(0, before).entries()) {
    store.run(migration.statements)
    if (at === 0) store.run(ROWS)
  }
  if (recorded === 'recorded') store.record(names.slice(0, before))
  store.run(statements)
  store.database.close()
}

const HOURS = [
  { hour: '2026-11-21T09', event: 'provider.login', count: 2, first_seq: 1, last_seq: 2 },
  { hour: '2026-11-21T10', event: 'agent.registered', count: 1, first_seq: 3, last_seq: 3 },
]

function hoursOf(database: DatabaseSync) {
  const query = 'select hour, event, count, first_seq, last_seq from audit_hours order by hour'
  return database
    .prepare(query)
    .all()
    .map((row) => ({ ...row }))
}

describe('a migration that was interrupted', () => {
  for (const [at, { name, statements }] of migrations.entries()) {
    for (const recorded of ['recorded', 'no table'] as const) {
      it(`${name} is finished from each of its ${statements.length} statements (migrations before: ${recorded})`, async (t) => {
        const clean = await cleanDefinitions(t)
        const untouched = place(t)
        leaveHalf(untouched.path, at, [], recorded)
        const before = at === 0 ? undefined : look(untouched.path, contentOf)
        for (let done = 0; done <= statements.length; done += 1) {
          const here = place(t)
          leaveHalf(here.path, at, statements.slice(0, done), recorded)

          await upgrade(here)

          assert.deepEqual(look(here.path, definitionsOf), clean, `after ${done} statements`)
          if (before) assert.deepEqual(look(here.path, contentOf), before, `after ${done} statements`)
          if (before) assert.deepEqual(look(here.path, hoursOf), HOURS, `after ${done} statements`)
          assert.equal(
            look(here.path, (database) => database.prepare('select count(*) as n from audit_head').get()?.['n']),
            1,
          )
          assert.deepEqual(await upgrade(here), [], 'and is whole then')
        }
      })
    }
  }

  for (const [at, draft] of drafts.entries()) {
    it(`${draft.name}, in definition ${at + 1} of before its release, is finished from each of its statements`, async (t) => {
      const clean = await cleanDefinitions(t)
      const before = names.indexOf(draft.name)
      for (let done = 0; done <= draft.statements.length; done += 1) {
        const here = place(t)
        leaveHalf(here.path, before, draft.statements.slice(0, done), 'recorded')
        const content = look(here.path, contentOf)

        await upgrade(here)

        assert.deepEqual(look(here.path, definitionsOf), clean, `after ${done} statements`)
        assert.deepEqual(look(here.path, contentOf), content)
        assert.deepEqual(look(here.path, hoursOf), HOURS)
      }
    })

    it(`${draft.name}, in definition ${at + 1} of before its release, becomes the present one where it was whole and used`, async (t) => {
      const clean = await cleanDefinitions(t)
      const here = place(t)
      const before = names.indexOf(draft.name)
      leaveHalf(here.path, before, draft.statements, 'no table')
      look(here.path, (database) => {
        database.exec(`insert into accounts values ('p-1', 'ada@example.com', 'CNRY', 'a')`)
        database.exec(`insert into browser_sessions (id, token_hash, csrf_hash, principal_id, browser, created_at, last_seen_at, expires_at)
          values ('s-1', 't', 'c', 'p-1', 'b', 'a', 'a', 'z')`)
      })
      const old = oldStore(here.path)
      old.record(names.slice(0, before + 1))
      old.database.close()

      const [copied, changed] = await upgrade(here)

      assert.match(copied ?? '', /copied the store to/)
      assert.match(changed ?? '', /finished a change of the schema/)
      assert.deepEqual(look(here.path, definitionsOf), clean)
      const session = look(here.path, (database) => ({
        ...database.prepare('select id, identity_id from browser_sessions').get(),
      }))
      assert.deepEqual(session, { id: 's-1', identity_id: null })
    })
  }

  it('is not begun by a full disk: the schema is as before, row for row', async (t) => {
    const here = place(t)
    leaveHalf(here.path, 1, [], 'recorded')
    const [definitions, content] = look(here.path, (database) => [definitionsOf(database), contentOf(database)])
    const pages = look(here.path, (database) => Number(database.prepare('pragma page_count').get()?.['page_count']))

    for (let room = 0; room < 12; room += 1) {
      const database = new DatabaseSync(here.path, { enableForeignKeyConstraints: true })
      database.exec(`pragma max_page_count = ${pages + room}`)
      const db = new Kysely<Tables>({ dialect: sqliteDialect(database) })
      const options = { dialect: 'sqlite', version: '1', before: async () => undefined, copy: () => undefined } as const
      await assert.rejects(
        migrate(db, options),
        (error) => error instanceof BrokerError && /disk is full/.test(error.message),
      )
      await db.destroy()
      assert.deepEqual(look(here.path, definitionsOf), definitions)
      assert.deepEqual(look(here.path, contentOf), content)
    }
  })
})

describe('a copy of the store', () => {
  it('is made before its schema is changed, whole, for its owner alone, and opens by itself', async (t) => {
    const here = place(t)
    leaveHalf(here.path, 1, [], 'recorded')
    const [definitions, content] = look(here.path, (database) => [definitionsOf(database), contentOf(database)])

    const notes = await upgrade(here)

    const [copy] = storeCopies(here.copies)
    assert.ok(copy)
    assert.equal(copy.schema, '0001_first')
    assert.ok(notes[0]?.includes(copy.path))
    assert.equal(statSync(here.copies).mode & 0o777, 0o700)
    assert.equal(statSync(copy.path).mode & 0o777, 0o600)
    assert.equal(readdirSync(here.copies).length, 1)
    assert.deepEqual(look(copy.path, definitionsOf), definitions)
    assert.deepEqual(look(copy.path, contentOf), content)
  })

  it('is not made of a new store, nor of one that is up to date', async (t) => {
    const here = place(t)
    await upgrade(here)
    await upgrade(here)
    assert.equal(existsSync(here.copies), false)
  })

  it('that a crash cut off is removed with what SQLite kept beside it, at the next start', async (t) => {
    const here = place(t)
    await upgrade(here)
    mkdirSync(here.copies, { mode: 0o700 })
    const whole = '0001_first-2026-11-21T09-00-00-000Z.db'
    const drafts = ['', '-wal', '-shm', '-journal'].map((ending) => `${whole}.draft${ending}`)
    for (const name of [whole, ...drafts]) writeFileSync(join(here.copies, name), '')
    await upgrade(here)
    assert.deepEqual(readdirSync(here.copies), [whole])
  })

  it('is kept three times: the oldest go', async (t) => {
    const here = place(t)
    const made: string[] = []
    for (const at of [1, 2, 3, 4, 5]) {
      rmSync(here.path, { force: true })
      leaveHalf(here.path, 1, [], 'recorded')
      t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 21, 9, at) })
      await upgrade(here)
      t.mock.timers.reset()
      made.push(storeCopies(here.copies)[0]?.path ?? '')
    }
    assert.deepEqual(
      storeCopies(here.copies).map(({ path }) => path),
      made.slice(2).toReversed(),
    )
  })

  it('put in the place of the store, is upgraded again', async (t) => {
    const here = place(t)
    leaveHalf(here.path, 2, [], 'recorded')
    const content = look(here.path, contentOf)
    await upgrade(here)
    const [copy] = storeCopies(here.copies)
    const again = { ...here, path: copy?.path ?? '' }
    await upgrade(again)
    assert.deepEqual(look(again.path, contentOf), content)
  })
})

describe('a store that this version cannot bring up to date', () => {
  it('is refused where a newer version has changed it: which one, and how to go back', async (t) => {
    const here = place(t)
    leaveHalf(here.path, 2, [], 'recorded')
    await upgrade(here, '1.2.3')
    look(here.path, (database) => {
      database.exec(`insert into kysely_migration values ('0099_later', '2027-01-01T00:00:00.000Z', '7.0.0')`)
    })
    const [copy] = storeCopies(here.copies)

    const refused = await upgrade(here, '1.2.3').catch((error: unknown) => error)

    assert.ok(refused instanceof BrokerError)
    assert.equal(refused.name, 'DaemonUnavailableError')
    assert.match(refused.message, /Broker 7\.0\.0 has changed it \("0099_later"\), and this is Broker 1\.2\.3/)
    assert.match(refused.options.hint ?? '', /Install that version again/)
    assert.ok(copy && refused.options.hint?.includes(copy.path))
  })

  it('is refused where its schema is none that ever was, and is left as it is', async (t) => {
    const here = place(t)
    leaveHalf(here.path, 2, ['create table audit_hours (hour text)'], 'recorded')
    const definitions = look(here.path, definitionsOf)

    const refused = await upgrade(here).catch((error: unknown) => error)

    assert.ok(refused instanceof BrokerError)
    assert.equal(refused.name, 'DaemonUnavailableError')
    assert.match(refused.message, /neither that of an earlier version/)
    assert.deepEqual(look(here.path, definitionsOf), definitions)
  })

  it('is opened with what somebody added to it', async (t) => {
    const here = place(t)
    leaveHalf(here.path, 2, ['create table mine (x)', 'create index my_events on audit_events (source)'], 'recorded')
    await upgrade(here)
    assert.ok(look(here.path, definitionsOf).others.includes('my_events'))
  })
})
