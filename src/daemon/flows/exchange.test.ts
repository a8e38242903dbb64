import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Secret } from '../../protocol/index.ts'
import {
  assertFails,
  exchangedAt,
  partyOf,
  REDIRECT_URI,
  realProvider,
  startedAt,
  TOKENS,
  testFlows,
  tokenServer,
} from './flows.fixture.ts'

describe('a code', () => {
  it('is sent with its verifier, the resource and what the definition adds, and to nobody else', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const party = partyOf(server, { token_params: { audience: 'x' } }, { resource: 'https://api.example/' })
    const { started, callback } = await startedAt(party, testFlows())
    await testFlows().exchange(started, callback)
    assert.deepEqual(Object.fromEntries(server.requests[0]?.form ?? []), {
      audience: 'x',
      client_id: 'client-1',
      code: 'code-CNRY5e77',
      code_verifier: started.verifier.reveal(),
      grant_type: 'authorization_code',
      redirect_uri: REDIRECT_URI,
      resource: 'https://api.example/',
    })
  })

  for (const status of [302, 307, 308])
    it(`is not sent on by a token endpoint that answers ${status}`, async (t) => {
      const evil = await tokenServer(t, { body: TOKENS })
      const server = await tokenServer(t, { status, headers: { location: `${evil.origin}/token` } })
      await assertFails(exchangedAt(partyOf(server)), 'AuthenticationFailedError', /redirect, which is not followed/)
      assert.equal(evil.requests.length, 0)
    })

  it('of an honest server is not given to the attacker whose login it was (mix-up)', async (t) => {
    const honest = await realProvider(t)
    const attacker = await tokenServer(t, { body: TOKENS })
    const flows = testFlows()
    const party = partyOf(attacker, {}, { issuer: attacker.origin })
    const { started } = await startedAt(party, flows, ['api:read'])
    // The attacker's authorization endpoint sends the browser on to the honest one, under its own client id there.
    const sentOn = new URL(started.url)
    sentOn.host = new URL(honest.issuer).host
    sentOn.pathname = '/auth'
    sentOn.searchParams.set('client_id', honest.clients.public.id)
    sentOn.searchParams.set('scope', 'api:read')
    const callback = new URL(await honest.approve(sentOn.href)).searchParams
    assert.ok(callback.has('code'))

    await assertFails(flows.exchange(started, callback), 'AuthenticationFailedError', /"iss" \(issuer\)/)

    assert.equal(attacker.requests.length, 0)
  })

  it('goes by Basic with id and secret in form encoding, where only what must be is encoded', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const client = { id: 'my-app_1.x', secret: new Secret('s:CNRY~ 7'), auth: 'client_secret_basic' } as const
    await exchangedAt({ ...partyOf(server), client })
    const [request] = server.requests
    const credentials = Buffer.from(request?.headers.authorization?.slice(6) ?? '', 'base64').toString()
    assert.equal(credentials, 'my-app_1.x:s%3ACNRY%7E+7')
    assert.equal(request?.form.has('client_secret'), false)
  })

  it('goes with the secret in the form where the client authenticates by post', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const client = { id: 'app', secret: new Secret('cs-CNRY7'), auth: 'client_secret_post' } as const
    await exchangedAt({ ...partyOf(server), client })
    assert.equal(server.requests[0]?.form.get('client_secret'), 'cs-CNRY7')
    assert.equal(server.requests[0]?.headers.authorization, undefined)
  })
})
