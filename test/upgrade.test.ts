import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { connect, owner, refusedDaemon, startDaemon } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

describe('a home that a newer version has served', () => {
  it('is refused by its name, and served again once that is taken back', async (t) => {
    const daemon = await startDaemon(t)
    const ada = await owner(daemon)
    await connect(ada, 'openai', markedSecret('sk-'))
    await daemon.stop()
    change(daemon.home, `insert into kysely_migration values ('0099_later', '2099-01-01T00:00:00.000Z', '7.0.0')`)

    const { code, output } = await refusedDaemon(daemon.home)

    assert.equal(code, 9)
    assert.match(
      output,
      /^broker: Cannot open the store: Broker 7\.0\.0 has changed it \("0099_later"\), and this is Broker \d/,
    )
    assert.match(output, /\n {2}Install that version again/)

    change(daemon.home, `delete from kysely_migration where name = '0099_later'`)
    await startDaemon(t, { home: daemon.home })
  })
})

function change(home: string, statement: string): void {
  const database = new DatabaseSync(join(home, 'server', 'broker.db'))
  database.exec(statement)
  database.close()
}
