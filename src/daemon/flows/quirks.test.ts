import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { QuirkName } from '../../protocol/index.ts'
import { Secret } from '../../protocol/index.ts'
import {
  ACCESS_TOKEN,
  assertFails,
  exchangedAt,
  partyOf,
  REDIRECT_URI,
  REFRESH_TOKEN,
  refreshRequest,
  scripted,
  startedAt,
  TOKENS,
  testFlows,
  tokenServer,
} from './flows.fixture.ts'

const CODE = {
  code: 'code-CNRY5e77',
  redirect_uri: REDIRECT_URI,
  grant_type: 'authorization_code',
  client_id: 'app',
  client_secret: 'cs-CNRY7',
}
const REFRESH = {
  refresh_token: 'rt-CNRY-before-4471',
  grant_type: 'refresh_token',
  client_id: 'app',
  client_secret: 'cs-CNRY7',
}

/** What the token endpoint gets for a code and for a refresh token; the code's verifier is left out. */
const REQUESTS: Readonly<Partial<Record<QuirkName, readonly [object, object]>>> = {
  json_requests: [CODE, REFRESH],
  client_id_as_client_key: [
    { ...CODE, client_id: undefined, client_key: 'app' },
    { ...REFRESH, client_id: undefined, client_key: 'app' },
  ],
  client_id_as_app_id: [
    {
      redirect_uri: REDIRECT_URI,
      grant_type: 'authorization_code',
      auth_code: 'code-CNRY5e77',
      app_id: 'app',
      secret: 'cs-CNRY7',
    },
    { refresh_token: 'rt-CNRY-before-4471', grant_type: 'refresh_token', app_id: 'app', secret: 'cs-CNRY7' },
  ],
  grant_type_as_type: [
    { ...CODE, grant_type: undefined, type: 'web_server' },
    { ...REFRESH, grant_type: undefined, type: 'refresh' },
  ],
  no_grant_type: [
    { ...CODE, grant_type: undefined },
    { ...REFRESH, grant_type: undefined },
  ],
}

const client = { id: 'app', secret: new Secret('cs-CNRY7'), auth: 'client_secret_post' } as const

describe('a quirk of requests', () => {
  for (const [name, expected] of Object.entries(REQUESTS))
    it(name, async (t) => {
      const server = await tokenServer(t, { body: TOKENS })
      const party = { ...partyOf(server, { quirks: [name as QuirkName] }), client }
      await exchangedAt(party)
      await testFlows().refresh(refreshRequest(party))
      const sent = server.requests.map(({ headers, body }) => {
        const isJson = headers['content-type'] === 'application/json'
        assert.equal(isJson, name === 'json_requests')
        const { code_verifier: verifier, ...rest } = isJson
          ? JSON.parse(body)
          : Object.fromEntries(new URLSearchParams(body))
        return rest
      })
      assert.deepEqual(sent, JSON.parse(JSON.stringify(expected)))
    })

  it('client_id_as_app_id: names the client so in the authorization URL, and takes the code by its other name', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const party = partyOf(server, { quirks: ['client_id_as_app_id'] })
    const { started } = await startedAt(party, testFlows())
    assert.equal(new URL(started.url).searchParams.get('app_id'), 'client-1')
    assert.equal(new URL(started.url).searchParams.has('client_id'), false)
    await testFlows().exchange(started, new URLSearchParams({ auth_code: 'code-CNRY1', state: started.state }))
    assert.equal(server.requests[0]?.form.get('auth_code'), 'code-CNRY1')
  })

  it('client_id_as_client_key: names the client so in the authorization URL', async () => {
    const party = partyOf({ origin: 'https://auth.example' }, { quirks: ['client_id_as_client_key'] })
    const { started } = await startedAt(party, testFlows())
    assert.equal(new URL(started.url).searchParams.get('client_key'), 'client-1')
  })

  it('json_requests: goes with Basic', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const party = {
      ...partyOf(server, { quirks: ['json_requests'] }),
      client: { ...client, auth: 'client_secret_basic' as const },
    }
    await exchangedAt(party)
    const [request] = server.requests
    assert.match(request?.headers.authorization ?? '', /^Basic /)
    assert.equal('client_secret' in JSON.parse(request?.body ?? ''), false)
  })

  it('device_scopes: has the scopes under their other name when it begins and when it asks', async (t) => {
    const server = await scripted(t, ({ path }) => ({
      body:
        path === '/token'
          ? TOKENS
          : { device_code: 'dc-CNRY1', user_code: 'AB', verification_uri: 'https://a.example/', expires_in: 60 },
    }))
    const url = `${server.origin}/device`
    const party = partyOf(
      server,
      { quirks: ['device_scopes'], device_authorization_url: url },
      { deviceAuthorizationUrl: url },
    )
    const started = await testFlows().startDevice({ ...party, scopes: ['a', 'b'] })
    await testFlows().pollDevice(started, 5)
    assert.deepEqual(
      server.requests.map(({ form }) => [form.get('scopes'), form.has('scope')]),
      [
        ['a b', false],
        ['a b', false],
      ],
    )
  })

  it('device_code_at_token_url: begins and asks at the token endpoint', async (t) => {
    const server = await scripted(t, ({ form }) => ({
      body: form.has('grant_type')
        ? TOKENS
        : { device_code: 'dc-CNRY1', user_code: 'AB', verification_uri: 'https://a.example/', interval: 5 },
    }))
    const url = `${server.origin}/token`
    const party = partyOf(
      server,
      { quirks: ['device_code_at_token_url'], device_authorization_url: url },
      { deviceAuthorizationUrl: url },
    )
    const started = await testFlows().startDevice({ ...party, scopes: ['a'] })
    const poll = await testFlows().pollDevice(started, 5)
    assert.equal(poll.kind, 'granted')
    assert.deepEqual(
      server.requests.map(({ form }) => Object.fromEntries(form)),
      [
        { client_id: 'client-1', response_type: 'device_code', scope: 'a' },
        { client_id: 'client-1', grant_type: 'device', code: 'dc-CNRY1' },
      ],
    )
  })
})

describe('a quirk of answers', () => {
  for (const [what, quirk, body] of [
    [
      'tokens_in_authed_user',
      'tokens_in_authed_user',
      {
        ok: true,
        access_token: 'xoxb-CNRY',
        token_type: 'bot',
        authed_user: { id: 'U1', ...TOKENS, token_type: 'user' },
      },
    ],
    ['tokens_in_authed_user, of a refresh', 'tokens_in_authed_user', { ok: true, ...TOKENS, token_type: 'user' }],
    ['tokens_in_body', 'tokens_in_body', { status: 0, body: { userid: 7, ...TOKENS } }],
    ['tokens_in_data', 'tokens_in_data', { code: 0, message: 'OK', data: TOKENS }],
  ] as const)
    it(what, async (t) => {
      const server = await tokenServer(t, { body })
      const tokens = await exchangedAt(partyOf(server, { quirks: [quirk] }))
      assert.equal(tokens.accessToken.reveal(), ACCESS_TOKEN)
      assert.equal(tokens.refreshToken?.reveal(), REFRESH_TOKEN)
    })

  for (const [quirk, body, message] of [
    ['tokens_in_authed_user', { ok: false, error: 'invalid_code' }, /invalid_code/],
    ['tokens_in_body', { status: 503, error: 'Invalid Params: invalid code', body: {} }, /invalid_params_invalid_code/],
    ['tokens_in_body', { status: '601', body: TOKENS }, /status_601/],
    [
      'tokens_in_data',
      { code: 40_105, message: 'Access token is incorrect', data: TOKENS },
      /code_40105: Access token is incorrect/,
    ],
  ] as const)
    it(`${quirk}: an error inside of a good answer`, async (t) => {
      const server = await tokenServer(t, { body })
      await assertFails(exchangedAt(partyOf(server, { quirks: [quirk] })), 'AuthenticationFailedError', message)
    })

  it('a member that is an error elsewhere is none without its quirk', async (t) => {
    const server = await tokenServer(t, { body: { ...TOKENS, status: 503, code: 7 } })
    assert.equal((await exchangedAt(partyOf(server))).accessToken.reveal(), ACCESS_TOKEN)
  })

  for (const [quirk, more, apiUrl] of [
    ['api_url_in_instance_url', { instance_url: 'https://na1.salesforce.example' }, 'https://na1.salesforce.example/'],
    ['api_url_in_api_domain', { api_domain: 'https://acme.pipedrive.example/' }, 'https://acme.pipedrive.example/'],
    ['api_url_in_base_url', { base_url: 'https://eu.fillout.example/v1' }, 'https://eu.fillout.example/v1'],
    ['api_url_in_host', { host: 'app-eu.wrike.example' }, 'https://app-eu.wrike.example/'],
    ['api_url_in_host', { host: 'evil.example@app-eu.wrike.example' }, undefined],
    ['api_url_in_instance_url', { instance_url: 'javascript:alert(1)' }, undefined],
    ['api_url_in_instance_url', { instance_url: 'http://169.254.169.254/' }, undefined],
    ['api_url_in_instance_url', {}, undefined],
    ['json_requests', { instance_url: 'https://na1.salesforce.example' }, undefined],
  ] as const)
    it(`${quirk}: ${JSON.stringify(more)}`, async (t) => {
      const server = await tokenServer(t, { body: { ...TOKENS, ...more } })
      assert.equal((await exchangedAt(partyOf(server, { quirks: [quirk] }))).apiUrl, apiUrl)
    })
})
