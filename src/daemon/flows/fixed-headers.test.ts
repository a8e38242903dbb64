import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { exchangedAt, partyOf, refreshRequest, scripted, TOKENS, testFlows } from './flows.fixture.ts'

const headers = { 'Acme-Version': '2026-11-01', 'Content-Type': 'text/acme' }
const accessToken = new Secret('at-CNRY-to-end')

describe('the fixed headers of a definition', () => {
  for (const [what, isItsOwn, version] of [
    ['go with what is asked about tokens at a host of the API', true, '2026-11-01'],
    ['stay away from a token endpoint elsewhere', false, undefined],
  ] as const)
    it(what, async (t) => {
      const server = await scripted(t, () => ({ body: TOKENS }))
      const url = `${server.origin}/revoke`
      const { definition, ...rest } = partyOf(server, { revocation_url: url }, { revocationUrl: url })
      const hosts = [isItsOwn ? new URL(server.origin).host : 'api.acme.example']
      const party = { ...rest, definition: { ...definition, hosts, headers } }

      await exchangedAt(party)
      await testFlows().refresh(refreshRequest(party))
      await testFlows().revoke({ ...party, accessToken })

      assert.equal(server.requests.length, 3)
      for (const request of server.requests) {
        assert.equal(request.headers['acme-version'], version)
        assert.match(request.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
      }
    })
})
