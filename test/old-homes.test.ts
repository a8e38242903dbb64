import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { caller, startDaemon, temporaryHome } from './daemon-under-test.ts'
import { keyOf, layOut, oldHomes } from './old-homes.ts'

describe('a home of an earlier commit', () => {
  for (const old of oldHomes()) {
    it(`starts, and no connection is unusable without a word: ${old.commit}`, async (t) => {
      const home = temporaryHome(t)
      layOut(old, home)

      const ada = caller(await startDaemon(t, { home }), 'ada', keyOf(old))

      const { body: ready } = await ada.call('GET', '/api/ready')
      assert.equal(ready.status, 'ready', JSON.stringify(ready))
      const { body: list } = await ada.call('GET', '/api/connections')
      assert.deepEqual(
        list.connections.map(({ provider }: { provider: string }) => provider),
        old.connections.map(({ provider }) => provider).toSorted(),
      )
      for (const { provider, credential } of old.connections) {
        const { body } = await ada.call('GET', `/api/connections/${provider}/default?reveal=true`)
        const said =
          ready.warnings?.some((warning: string) => warning.includes(`of ${provider} needs approval`)) === true
        assert.deepEqual(
          { provider, status: body.status, credential: body.credential },
          said
            ? { provider, status: 'needs_approval', credential: body.credential }
            : { provider, status: 'connected', credential },
        )
      }
    })
  }
})
