import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ScriptedAnswer } from '../../../test/scripted-oauth-server.ts'
import { Secret } from '../../protocol/index.ts'
import { flowsFor, loggedIn, partyOf, realProvider, scripted, testFlows } from './flows.fixture.ts'

const accessToken = new Secret('at-CNRY-to-end')
const refreshToken = new Secret('rt-CNRY-to-end')

const error = (code: string): ScriptedAnswer => ({ status: 400, body: { error: code } })

describe('a revocation', () => {
  it('ends a grant at the provider', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const { party, tokens } = await loggedIn(provider, flows)
    const outcome = await flows.revoke({ ...party, ...tokens })
    assert.equal(outcome, 'revoked')
    assert.equal(await provider.isActive(tokens.accessToken.reveal()), false)
    assert.equal(await provider.isActive(tokens.refreshToken?.reveal() ?? ''), false)
  })

  it('is not possible where the provider has no place for it', async () => {
    const party = partyOf({ origin: 'https://auth.example' })
    assert.equal(await testFlows().revoke({ ...party, accessToken, refreshToken }), 'unsupported')
  })

  for (const [what, answers, outcome] of [
    ['both are ended', [{}, {}], 'revoked'],
    ['both are ended, in words', [{ status: 204 }, { body: 'ok' }], 'revoked'],
    ['access tokens end with their grant', [{}, error('unsupported_token_type')], 'revoked'],
    ['the access token has ended with it', [{}, error('invalid_token')], 'revoked'],
    ['both had ended before', [error('invalid_token'), error('expired_token')], 'revoked'],
    ['neither can be ended', [error('unsupported_token_type'), error('unsupported_token_type')], 'unsupported'],
    ['the refresh token is not ended', [{ status: 503 }, {}], 'failed'],
    ['the access token is not ended', [{}, { status: 404, body: '<html>CNRY' }], 'failed'],
    ['the client is refused', [error('invalid_client'), error('invalid_client')], 'failed'],
    ['it redirects', [{ status: 307, headers: { location: 'https://evil.example' } }, {}], 'failed'],
    ['the connection breaks', [{ raw: (response: { destroy(): void }) => response.destroy() }, {}], 'failed'],
    ['nothing comes back', [{ raw: () => {} }, { raw: () => {} }], 'failed'],
  ] as const)
    it(`asks for the refresh token, then for the access token: ${what}`, async (t) => {
      const left: ScriptedAnswer[] = [...answers]
      const [first] = answers
      const server = await scripted(t, () => left.shift())
      const url = `${server.origin}/revoke`
      const party = partyOf(server, { revocation_url: url }, { revocationUrl: url })
      const request = { ...party, accessToken, refreshToken }
      assert.equal(await flowsFor(first).revoke(request), outcome)
      assert.deepEqual(
        server.requests.map(({ form }) => Object.fromEntries(form)),
        [
          { client_id: 'client-1', token: 'rt-CNRY-to-end', token_type_hint: 'refresh_token' },
          { client_id: 'client-1', token: 'at-CNRY-to-end', token_type_hint: 'access_token' },
        ],
      )
    })
})
