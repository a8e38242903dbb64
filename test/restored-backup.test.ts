import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { logIn, onboarded } from './broker-command.ts'

const KEY = `sk-CNRY${'r'.repeat(44)}`

describe('a store that was put back from a backup', () => {
  it('is taken by one command of the owner, though agents have come and gone since', async (t) => {
    const world = await onboarded(t)
    await logIn(world, 'openai', KEY)
    assert.equal((await world.broker(['agent', 'create', 'kept'])).code, 0)
    await world.daemon.stop()
    const [server, backup] = [join(world.home, 'server'), join(world.folder, 'backup')]
    const files = () => readdirSync(server).filter((name) => name.startsWith('broker.db'))
    mkdirSync(backup)
    for (const name of files()) cpSync(join(server, name), join(backup, name))
    const daemon = await world.restart(t)
    assert.equal((await world.broker(['agent', 'create', 'later'])).code, 0)
    await daemon.stop()
    for (const name of files()) rmSync(join(server, name))
    cpSync(backup, server, { recursive: true })
    await world.restart(t)

    const before = await world.broker(['doctor'])
    assert.equal(before.code, 1)
    assert.match(before.stdout, /is older than the last one seen here[\s\S]*broker doctor --accept-restore/)
    const accepted = await world.broker(['doctor', '--accept-restore'])
    assert.equal(accepted.code, 0, accepted.stderr)
    assert.match(accepted.stderr, /Taken as it was: .*with the agents .*kept/)

    assert.equal((await world.broker(['doctor'])).code, 0)
    assert.match((await world.broker(['connections'])).stdout, /openai +default +yes +connected/)
  })
})
