import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { bearerDefinition } from './acme-home.ts'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'

// Neither is bundled any more; a home of before has connections of both.
const RETIRED = { 'github-models': 'models.github.ai', fitbit: 'api.fitbit.com' }

describe('a connection of a service that has ended', () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  before(async () => {
    world = await onboarded(cleanup)
    for (const [name, host] of Object.entries(RETIRED)) await connect(name, host)
  })

  /** As a bundled definition of before would have made it: it is not there any more. */
  async function connect(name: string, host: string): Promise<void> {
    const file = join(world.folder, `${name}.json`)
    writeFileSync(file, JSON.stringify({ ...bearerDefinition(name, host), env: {} }))
    assert.equal((await world.broker(['provider', 'register', file, '--yes'])).code, 0)
    await logIn(world, name, 'CNRY-key-of-before')
    rmSync(join(world.home, 'providers', `${name}.json`))
  }

  for (const provider of Object.keys(RETIRED)) {
    it(`of ${provider} stays listed, with the reason`, async () => {
      const { stdout, stderr } = await world.broker(['connections'])
      assert.match(stdout, new RegExp(`^${provider} +default +yes +needs_approval`, 'm'))
      assert.match(stderr, new RegExp(`[Tt]here is no definition of "${provider}" any more`))
    })

    it(`of ${provider} goes with a logout`, async () => {
      const { code, stderr } = await world.broker(['logout', provider])
      assert.equal(code, 0, stderr)
      assert.doesNotMatch((await world.broker(['connections'])).stdout, new RegExp(provider))
    })
  }
})
