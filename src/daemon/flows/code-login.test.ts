import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import { assertFails, loggedIn, partyAt, realProvider, startedAt, testFlows } from './flows.fixture.ts'

describe('a login by authorization code', () => {
  it('brings tokens and the account home', async (t) => {
    const provider = await realProvider(t)
    const { tokens } = await loggedIn(provider, testFlows(), ['openid', 'email', 'api:read'])

    assert.equal(await provider.isActive(tokens.accessToken.reveal()), true)
    assert.match(tokens.refreshToken?.reveal() ?? '', /^rt-CNRY/)
    assert.deepEqual(tokens.scopes, ['openid', 'email', 'api:read'])
    assert.deepEqual(tokens.account, { id: 'user-1', label: 'ada@example.com' })
    assert.ok(Math.abs((tokens.expiresAt ?? 0) - Date.now() - 3_600_000) < 60_000)
  })

  it('works as a confidential client, by Basic and by form', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const { id, secret } = provider.clients.confidential
    const party = await partyAt(provider, flows)

    const client = { id, secret: new Secret(secret), auth: 'client_secret_basic' } as const
    const { started } = await startedAt({ ...party, client }, flows, ['api:read'])
    const tokens = await flows.exchange(started, new URL(await provider.approve(started.url)).searchParams)

    assert.equal(await provider.isActive(tokens.accessToken.reveal()), true)
  })

  it('tells a user who said no', async (t) => {
    const provider = await realProvider(t, { settings: { consent: 'declined' } })
    const flows = testFlows()
    const { started } = await startedAt(await partyAt(provider, flows), flows, ['api:read'])
    const callback = new URL(await provider.approve(started.url)).searchParams
    await assertFails(
      flows.exchange(started, callback),
      'AuthenticationFailedError',
      /^Cannot log in to Acme: the login was declined there \(access_denied: The user said no\)$/,
    )
  })

  it('cannot spend a code twice', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const { started, callback } = await loggedIn(provider, flows)
    await assertFails(flows.exchange(started, callback), 'AuthenticationFailedError', /invalid_grant/)
  })

  it('exchanges each of 50 codes with its own verifier', async (t) => {
    const provider = await realProvider(t)
    const flows = testFlows()
    const party = await partyAt(provider, flows)
    const starts = await Promise.all(Array.from({ length: 50 }, () => startedAt(party, flows, ['api:read'])))
    const tokens = await Promise.all(
      starts.map(async ({ started }) =>
        flows.exchange(started, new URL(await provider.approve(started.url)).searchParams),
      ),
    )
    assert.equal(new Set(tokens.map(({ accessToken }) => accessToken.reveal())).size, 50)
  })
})
