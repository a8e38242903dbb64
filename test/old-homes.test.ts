import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { caller, startDaemon, temporaryHome } from './daemon-under-test.ts'
import { keyOf, layOut, oldHomes } from './old-homes.ts'

describe('a home of an earlier commit', () => {
  for (const old of oldHomes()) {
    it(`starts, and every connection is usable, after one approval of what has changed: ${old.commit}`, async (t) => {
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
      const unapproved = list.attention.map(({ kind, provider }: Record<string, string>) => ({ kind, provider }))
      for (const { provider } of unapproved) {
        assert.ok(ready.warnings.some((warning: string) => warning.includes(`broker connections approve ${provider}`)))
        const { status, text } = await ada.call('POST', `/api/connections/${provider}/default/approve`, {})
        assert.equal(status, 200, text)
      }
      for (const { provider, credential } of old.connections) {
        const { body } = await ada.call('GET', `/api/connections/${provider}/default?reveal=true`)
        assert.deepEqual([body.status, body.attention], ['connected', undefined], provider)
        for (const [name, value] of Object.entries(credential)) assert.equal(body.credential[name], value, provider)
      }
    })
  }
})
