import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sourceFiles } from './source-files.ts'
import { tableProblems, tables, unlistedTables } from './tables.ts'

const LIST = { runs: { written: ['principals'], read: ['audit'] } }

const problemsOf = (files: Readonly<Record<string, string>>) =>
  tableProblems(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    LIST,
  )

const ALLOWED = {
  'src/daemon/principals/runs.ts': "db.insertInto('runs')",
  'src/daemon/audit/log.ts': "db.selectFrom('runs as run')",
}

describe('the list of tables', () => {
  it('has every table, and every use of one', () => {
    assert.deepEqual(unlistedTables(sourceFiles()), [])
    assert.deepEqual(tableProblems(sourceFiles(), tables), [])
  })

  it('lets nobody else read or write', () => {
    assert.deepEqual(problemsOf(ALLOWED), [])
    assert.deepEqual(problemsOf({ ...ALLOWED, 'src/daemon/audit/log.ts': "db.updateTable('runs')" }), [
      'src/daemon/audit/log.ts: may not write runs',
    ])
    for (const text of ["db.selectFrom(\n  'runs')", "q.leftJoin('runs as r', on)", 'sql`select 1 from runs`'])
      assert.deepEqual(problemsOf({ ...ALLOWED, 'src/daemon/api/x.ts': text }), [
        'src/daemon/api/x.ts: may not read runs',
      ])
  })

  it('keeps no permission that nobody needs', () => {
    const { 'src/daemon/audit/log.ts': _, ...rest } = ALLOWED
    assert.deepEqual(problemsOf(rest), ['tools/tables.ts: audit has no use of runs'])
  })

  it('does not hold the rooms to it that care for all rows', () => {
    assert.deepEqual(problemsOf({ ...ALLOWED, 'src/daemon/rights/restore.ts': "db.deleteFrom('runs')" }), [])
  })
})
