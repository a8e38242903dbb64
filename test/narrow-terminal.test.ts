import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { whyNot } from '../tools/available.ts'
import { BROKER, type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { type Cleanup, owner, suiteCleanup } from './daemon-under-test.ts'
import { atOwnTerminal } from './own-terminal.ts'

describe('at a terminal of 80 columns', { timeout: 120_000, skip: whyNot('python3') }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  before(async () => {
    world = await onboarded(cleanup)
    await logIn(world, 'openai', `sk-CNRY${'a'.repeat(40)}`)
    await logIn(world, 'google-maps', `AIzaCNRY${'a'.repeat(30)}`, ['--connection', 'a-connection-of-some-name'])
    const ada = await owner(world.daemon, 'ada-of-the-long-name')
    await ada.call('DELETE', '/api/identities/ada-of-the-long-name')
    const run = await world.startAsking(['--strict'])
    assert.equal((await run.connect('denied.example.com:443')).status, 403)
    await run.end()
  })

  for (const command of [['log'], ['provider', 'list'], ['connections'], ['doctor']]) {
    it(`nothing wraps: broker ${command.join(' ')}`, async (t) => {
      const rows = await shownBy(t, world, command)
      assert.ok(rows.length > 2)
      for (const row of rows) assert.ok([...row].length <= 80, `${row.length}: ${row}`)
    })
  }

  it('nothing is shortened in a pipe', async () => {
    for (const command of [['log'], ['provider', 'list'], ['connections']])
      assert.doesNotMatch((await world.broker(command)).stdout, /…/)
  })

  it('a request that was denied shows its host, at a terminal and in a pipe', async (t) => {
    assert.match((await shownBy(t, world, ['log'])).join('\n'), /proxy\.denied .*\n {4}CONNECT denied\.example\.com/)
    assert.match((await world.broker(['log', '--status', 'denied'])).stdout, /CONNECT denied\.example\.com\S* .*: \S/)
  })

  it('a log of no match says which filters had none', async () => {
    const none = await world.broker(['log', '--provider', 'github', '--since', '2026-01-01'])
    assert.deepEqual([none.code, none.stdout], [0, ''])
    assert.match(none.stderr, /^Nothing that was recorded fits: provider github, since 2026-01-01 00:00:00\.$/m)
    const json = await world.broker(['log', '--provider', 'github', '--json'])
    assert.deepEqual([json.code, JSON.parse(json.stdout), json.stderr], [0, [], ''])
  })
})

async function shownBy(t: Cleanup, world: BrokerHome, command: readonly string[]): Promise<readonly string[]> {
  const terminal = await atOwnTerminal(t, [BROKER, ...command], { cwd: world.folder, env: world.env, columns: 80 })
  await terminal.ended
  return stripVTControlCharacters(terminal.shown())
    .split('\r\n')
    .filter((row) => row !== '')
}
