import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ScriptedAnswer, ScriptedRequest } from '../../../test/scripted-oauth-server.ts'
import { Secret } from '../../protocol/index.ts'
import { repeats } from './echo.ts'
import {
  assertFails,
  callbackOf,
  definitionWith,
  exchangedAt,
  partyOf,
  REDIRECT_URI,
  refreshRequest,
  scripted,
  startedAt,
  TOKENS,
  testFlows,
} from './flows.fixture.ts'
import type { OAuthClient, Party } from './index.ts'

// Words without a digit, short ones too: nothing but their being secret gives them away.
const CLIENT_SECRET = 'CNRY correct horse'
const REFRESH_TOKEN = 'rt-CNRYbattery'
const CLIENT: OAuthClient = { id: 'client-1', auth: 'client_secret_post', secret: new Secret(CLIENT_SECRET) }

/** A server that answers with what it was asked. */
function echoing(t: Parameters<typeof scripted>[0], answer: (request: ScriptedRequest) => ScriptedAnswer) {
  return scripted(t, (request) => (request.method === 'POST' ? answer(request) : undefined))
}

const withClient = (party: Party): Party => ({ ...party, client: CLIENT })
const refusing = (text: string): ScriptedAnswer => ({ status: 400, body: { error: 'bad', error_description: text } })

describe('a text repeats a secret', () => {
  const secret = [new Secret('rt-CNRY.aB_c~4')]
  for (const text of [
    'Token rt-CNRY.aB_c~4 is unknown',
    'RT-CNRY.AB_C~4',
    'rt%2DCNRY%2eaB%5fc%7E4',
    'rt_cnry_ab_c_4',
    'r t - C N R Y . a B _ c ~ 4',
  ])
    it(`as "${text}"`, () => assert.equal(repeats(text, secret), true))

  it('not with a part of it, nor with a word that somebody has made a secret', () => {
    assert.equal(repeats('rt-CNRY', secret), false)
    assert.equal(repeats('The secret is wrong', [new Secret('secret')]), false)
    assert.equal(repeats('', [new Secret('')]), false)
  })
})

describe('an error that quotes the request', () => {
  const QUOTES: readonly (readonly [string, (said: string) => ScriptedAnswer])[] = [
    ['in its description', (said) => refusing(`I do not know "${said}"`)],
    ['in its description, in capitals', (said) => refusing(said.toUpperCase())],
    ['in its description, far behind', (said) => refusing(`${'so '.repeat(65)}${said}`)],
    ['as its code', (said) => ({ status: 400, body: { error: said } })],
    ['as its code, with status 200', (said) => ({ body: { error: said.toLowerCase() } })],
    ['as a code in an object', (said) => ({ status: 400, body: { error: { code: said, message: said } } })],
    ['as its status', (said) => ({ status: 400, body: { status: said, message: said } })],
    ['in a form', (said) => ({ status: 400, headers: FORM, body: new URLSearchParams({ error: said }).toString() })],
    ['as HTML', (said) => ({ status: 400, headers: { 'content-type': 'text/html' }, body: `<p>${said}` })],
    ['as a redirect', (said) => ({ status: 302, headers: { location: `https://a.example/?${encodeURI(said)}` } })],
    ['as a member', (said) => ({ status: 400, body: { [said]: said, error: 'bad' } })],
    ['as a number', (said) => ({ body: { status: said, error_description: said } })],
    ['after how long to come back', (said) => ({ status: 503, headers: { 'retry-after': said } })],
  ]
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

  for (const [where, answer] of QUOTES)
    it(`${where}: is told without it`, async (t) => {
      for (const field of ['refresh_token', 'client_secret', 'code', 'code_verifier']) {
        const server = await echoing(t, ({ form }) => answer(form.get(field) ?? ''))
        const party = withClient(partyOf(server, { quirks: ['tokens_in_body'] }))

        const outcome = await testFlows().refresh({
          ...refreshRequest(party),
          refreshToken: new Secret(REFRESH_TOKEN),
        })
        const { started, callback } = await startedAt(party, testFlows())
        const login = await testFlows()
          .exchange(started, callback)
          .catch((error: Error) => error)

        assert.doesNotMatch(JSON.stringify(outcome), /cnry/i)
        assert.ok(login instanceof Error)
        const quoted = server.requests.at(-1)?.form.get(field) ?? ''
        assert.equal(repeats(login.message, [new Secret(quoted)]), false)
        assert.doesNotMatch(login.message, /cnry|horse/i)
      }
    })

  it('still says what it is about', async (t) => {
    const server = await echoing(t, ({ form }) => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: form.get('code') },
    }))
    await assertFails(exchangedAt(partyOf(server)), 'AuthenticationFailedError', /it refused \(invalid_grant\)$/)
  })

  it('is known by its code where that is a word', async (t) => {
    for (const [said, known] of [
      ['incorrect_client_credentials', 'incorrect_client_credentials'],
      ['40105', '40105'],
      ['AADSTS700', 'aadsts700'],
      ['c4n3r2y1', 'unknown_error'],
      ['cnrybatterystaplecorrecthorse', 'unknown_error'],
      [`${'cnry_'.repeat(8)}x`, 'unknown_error'],
    ] as const) {
      const server = await echoing(t, () => ({ status: 400, body: { error: said } }))
      const outcome = await testFlows().refresh(refreshRequest(partyOf(server)))
      assert.equal(outcome.kind === 'refreshed' ? '' : outcome.reason, known)
    }
  })

  it('by the browser, which brings the state back in it', async (t) => {
    const server = await echoing(t, () => ({ body: TOKENS }))
    const { started } = await startedAt(partyOf(server), testFlows())
    const error = { error: started.state, error_description: `state ${started.state.toUpperCase()} is odd` }
    const failed = await assertFails(
      testFlows().exchange(started, callbackOf(started, error)),
      'AuthenticationFailedError',
      /it refused \(unknown_error\)$/,
    )
    assert.equal(repeats(failed.message, [new Secret(started.state)]), false)
  })
})

describe('tokens that come with words of theirs', () => {
  it('are taken without a scope, an account or an API that repeats one', async (t) => {
    for (const [member, said] of [
      ['access_token', TOKENS.access_token],
      ['refresh_token', TOKENS.refresh_token],
      ['client_secret', CLIENT_SECRET],
      ['code', 'code-CNRY5e77'],
    ] as const) {
      const server = await scripted(t, ({ path }) =>
        path === '/token'
          ? { body: { ...TOKENS, scope: `read ${said}`, instance_url: `${said.replace(/\s/g, '')}.api.acme.example` } }
          : { body: { sub: said, email: `${said.replaceAll(' ', '')}@example.com`, name: 'Ada' } },
      )
      const party = withClient(
        partyOf(
          server,
          { quirks: ['api_url_in_instance_url'] },
          { userinfoUrl: `${server.origin}/me`, isPrivate: true },
        ),
      )
      const { scopes, account, apiUrl } = await exchangedAt(party, testFlows())
      assert.deepEqual(scopes, ['a'], member)
      assert.equal(apiUrl, undefined, member)
      // The userinfo endpoint has not seen the code.
      if (member !== 'code') assert.deepEqual(account, { label: 'Ada' }, member)
    }
  })

  it('are taken after a refresh too', async (t) => {
    const server = await echoing(t, ({ form }) => ({ body: { ...TOKENS, scope: form.get('refresh_token') } }))
    const outcome = await testFlows().refresh(refreshRequest(partyOf(server), ['kept']))
    assert.ok(outcome.kind === 'refreshed')
    assert.deepEqual(outcome.tokens.scopes, ['kept'])
  })
})

describe('a device code in what is to be shown', () => {
  const started = {
    device_code: 'dc-CNRYbattery',
    user_code: 'ABCD-EFGH',
    verification_uri: 'https://login.example/device',
  }
  const start = async (t: Parameters<typeof scripted>[0], more: object) => {
    const server = await echoing(t, () => ({ body: { ...started, ...more } }))
    const url = `${server.origin}/device`
    const party = partyOf(server, { device_authorization_url: url }, { deviceAuthorizationUrl: url })
    return testFlows().startDevice({ ...withClient(party), scopes: [] })
  }

  it('ends the login', async (t) => {
    for (const more of [
      { user_code: started.device_code },
      { user_code: CLIENT_SECRET },
      { verification_uri: `https://login.example/device?code=${started.device_code}` },
    ])
      await assertFails(start(t, more), 'AuthenticationFailedError', /gives away a secret/)
  })

  it('only costs the short way, where that is what holds it', async (t) => {
    const complete = (code: string) => ({ verification_uri_complete: `https://login.example/device?code=${code}` })
    assert.equal((await start(t, complete('dc%2dcnryBattery'))).verificationUriComplete, undefined)
    assert.match((await start(t, complete('ABCD-EFGH'))).verificationUriComplete ?? '', /ABCD-EFGH$/)
  })
})

describe('a registration whose client id is its secret', () => {
  it('is refused: an id is shown', async (t) => {
    for (const more of [
      { client_id: 'cs-CNRYbattery', client_secret: 'cs-CNRYbattery' },
      { client_id: 'id.ra-CNRYbattery', registration_access_token: 'ra-CNRYbattery' },
    ]) {
      const server = await echoing(t, () => ({ status: 201, body: more }))
      const flows = testFlows()
      const registration_url = `${server.origin}/register`
      const definition = definitionWith({ ...partyOf(server).definition.oauth, registration_url })
      const registered = flows
        .discover(definition)
        .then((found) => flows.register({ definition, server: found, redirectUri: REDIRECT_URI, scopes: [] }))
      await assertFails(registered, 'AuthenticationFailedError', /id gives its secret away/)
    }
  })
})
