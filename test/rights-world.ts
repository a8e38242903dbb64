import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { generateSigningKey, type SigningKey } from '../src/identity/index.ts'
import {
  type Caller,
  type Cleanup,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  send,
  startDaemon,
} from './daemon-under-test.ts'
import { browserWith, type SignedInBrowser, signedIn } from './signed-in-browser.ts'

export const BOSS = { email: 'boss@example.com', password: 'CNRY correct horse battery' }
export const EVE = { email: 'eve@example.com', password: 'CNRY another long phrase' }

/** Who is in the home that is attacked: the local owner with two agents and a run, two accounts, an agent of one of them. */
interface People {
  readonly ada: SigningKey
  readonly helper: SigningKey
  readonly run: SigningKey
  readonly boss: Pick<SignedInBrowser, 'principalId' | 'cookie' | 'csrfToken'>
  readonly eve: Pick<SignedInBrowser, 'principalId' | 'cookie' | 'csrfToken'>
  readonly ci: SigningKey
  /** Registered, and nobody's yet. */
  readonly stray: SigningKey
}

export interface AttackedHome {
  readonly home: string
  readonly people: People
}

/** Makes such a home once; its daemon has stopped. */
export async function makePeople(t: Cleanup): Promise<AttackedHome> {
  const daemon = await startDaemon(t)
  const ada = await owner(daemon, 'ada')
  await connect(ada, 'openai', `sk-CNRY${'a'.repeat(44)}`)
  const helper = await owner(daemon, 'helper')
  const run = generateSigningKey()
  await ada.call('POST', '/api/runs', { did: run.did })
  const [boss, eve] = [await signedIn(daemon, 'register', BOSS), await signedIn(daemon, 'register', EVE)]
  const [ci, stray] = [caller(daemon, 'ci'), caller(daemon, 'stray')]
  const asked = await ci.call('POST', '/api/identities/register', { handle: 'ci', did: ci.key.did })
  await eve.call('POST', `${new URL(asked.body.claim_url).pathname}/confirm`, {})
  await stray.call('POST', '/api/identities/register', { handle: 'stray', did: stray.key.did })
  await daemon.stop()
  const people = { ada: ada.key, helper: helper.key, run, boss, eve, ci: ci.key, stray: stray.key }
  return { home: daemon.home, people }
}

/** The same home once more, in a folder of its own. */
export function copyOf(t: Cleanup, { home, people }: AttackedHome): AttackedHome {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(home, join(folder, 'home'), { recursive: true })
  return { home: join(folder, 'home'), people }
}

/** A daemon on such a home, and those who call it. */
export interface Served {
  readonly daemon: DaemonUnderTest
  readonly ada: Caller
  readonly helper: Caller
  readonly run: Caller
  readonly ci: Caller
  readonly stray: Caller
  readonly boss: SignedInBrowser['call']
  readonly eve: SignedInBrowser['call']
}

export async function serve(t: Cleanup, { home, people }: AttackedHome): Promise<Served> {
  const daemon = await startDaemon(t, { home })
  return {
    daemon,
    ada: caller(daemon, 'ada', people.ada),
    helper: caller(daemon, 'helper', people.helper),
    run: caller(daemon, 'ada', people.run),
    ci: caller(daemon, 'ci', people.ci),
    stray: caller(daemon, 'stray', people.stray),
    boss: browserWith(daemon, people.boss.cookie, people.boss.csrfToken),
    eve: browserWith(daemon, people.eve.cookie, people.eve.csrfToken),
  }
}

/** Another hand at the store: works beside a daemon, and without one. */
export function atStore<Result>(home: string, work: (store: Store) => Result): Result {
  const database = new DatabaseSync(join(home, 'server/broker.db'), {
    enableForeignKeyConstraints: false,
    timeout: 10_000,
  })
  const all = (query: string, ...values: SQLInputValue[]) => database.prepare(query).all(...values)
  try {
    return work({
      all,
      run: (query, ...values) => void database.prepare(query).run(...values),
      insert: insertInto(database),
    })
  } finally {
    database.close()
  }
}

export interface Store {
  all(query: string, ...values: SQLInputValue[]): readonly Row[]
  run(query: string, ...values: SQLInputValue[]): void
  insert(table: string, row: Row): void
}

export type Row = Readonly<Record<string, SQLInputValue>>

function insertInto(database: DatabaseSync) {
  return (table: string, row: Row) => {
    const columns = Object.keys(row)
    const places = columns.map(() => '?').join()
    database.prepare(`insert into ${table} (${columns.join()}) values (${places})`).run(...Object.values(row))
  }
}

export function bootstrapOf(home: string): Record<string, string> {
  return { 'x-broker-bootstrap': readFileSync(join(home, 'server/bootstrap.secret'), 'utf8').trim() }
}

/** The answer to a password. */
export async function signInStatus(daemon: DaemonUnderTest, login: typeof BOSS): Promise<number> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return (await send(daemon, 'POST', '/api/auth/login', JSON.stringify(login), headers)).status
}
