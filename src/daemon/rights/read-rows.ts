import type { Db } from '../store/index.ts'
import type { AnyRow } from './sealed-rows.ts'

/** Every row that can confer something now: what is over confers nothing, whoever wrote it. */
export async function readRows(db: Db, now: number): Promise<readonly AnyRow[]> {
  const time = new Date(now).toISOString()
  const live = async (table: 'claims' | 'browser_sessions' | 'browser_links') =>
    (await db.selectFrom(table).selectAll().where('expires_at', '>', time).execute()).map(
      (row) => ({ table, row }) as AnyRow,
    )
  const all = async (table: 'principals' | 'accounts' | 'identities') =>
    (await db.selectFrom(table).selectAll().execute()).map((row) => ({ table, row }) as AnyRow)
  const runs = await db
    .selectFrom('runs')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('expires_at', '>', time)
    .execute()
  return [
    ...(await all('principals')),
    ...(await all('accounts')),
    ...(await all('identities')),
    ...(await live('claims')),
    ...runs.map((row): AnyRow => ({ table: 'runs', row })),
    ...(await live('browser_sessions')),
    ...(await live('browser_links')),
  ]
}
