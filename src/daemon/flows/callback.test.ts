import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertFails, callbackOf, partyOf, startedAt, TOKENS, testFlows, tokenServer } from './flows.fixture.ts'
import type { OAuthServer } from './flows.ts'

const ISSUER = 'https://auth.example/Tenant'

/** RFC 9207: whose answer is it? Nothing is sent where it is another's. */
const ISSUERS: readonly (readonly [string, Partial<OAuthServer>, string | undefined, 'taken' | 'refused'])[] = [
  ['sends it and it is right', { issuer: ISSUER, sendsIssuer: true }, ISSUER, 'taken'],
  ['sends it and it is absent', { issuer: ISSUER, sendsIssuer: true }, undefined, 'refused'],
  ['does not say that it sends it, and it is right', { issuer: ISSUER }, ISSUER, 'taken'],
  ['does not say that it sends it, and it is absent', { issuer: ISSUER }, undefined, 'taken'],
  ['is another', { issuer: ISSUER }, 'https://evil.example/Tenant', 'refused'],
  ['differs by case', { issuer: ISSUER, sendsIssuer: true }, 'https://auth.example/tenant', 'refused'],
  ['differs by a slash', { issuer: ISSUER, sendsIssuer: true }, `${ISSUER}/`, 'refused'],
  ['differs by its port', { issuer: ISSUER, sendsIssuer: true }, 'https://auth.example:443/Tenant', 'refused'],
  ['differs by percent-encoding', { issuer: ISSUER }, 'https://auth.example/%54enant', 'refused'],
  ['is not known, and its origin is ours', {}, 'ORIGIN/tenant', 'taken'],
  ['is not known, and none is sent', {}, undefined, 'taken'],
  ['is not known, and its origin is another', {}, 'https://evil.example', 'refused'],
  ['is not known, and it is no URL', {}, 'nonsense', 'refused'],
]

describe('the issuer in a callback', () => {
  for (const [what, server, iss, outcome] of ISSUERS)
    it(`${outcome === 'taken' ? 'lets the login go on' : 'ends the login'} where the server ${what}`, async (t) => {
      const scriptedServer = await tokenServer(t, { body: TOKENS })
      const flows = testFlows()
      const { started } = await startedAt(partyOf(scriptedServer, {}, server), flows)
      const sent = iss?.replace('ORIGIN', scriptedServer.origin)
      const answer: Record<string, string> = sent === undefined ? {} : { iss: sent }
      const error = { error: 'access_denied', error_description: 'words of the attacker' }

      const { message } = await assertFails(
        flows.exchange(started, callbackOf(started, { ...answer, ...error })),
        'AuthenticationFailedError',
        outcome === 'taken' ? /words of the attacker/ : /another server|"iss" \(issuer\)/,
      )
      const login = await flows.exchange(started, callbackOf(started, answer)).catch((reason: Error) => reason.message)

      assert.equal(scriptedServer.requests.length, outcome === 'taken' ? 1 : 0)
      assert.equal(login === message, outcome === 'refused')
    })
})

describe('a callback', () => {
  for (const [what, more] of [
    ['another state', { state: 'x'.repeat(43) }],
    ['tokens in place of a code', { id_token: 'a.b.c' }],
    ['a response of another mode', { response: 'a.b.c' }],
  ] as const)
    it(`with ${what} is refused before anything is sent`, async (t) => {
      const server = await tokenServer(t, { body: TOKENS })
      const { started } = await startedAt(partyOf(server), testFlows())
      await assertFails(
        testFlows().exchange(started, callbackOf(started, more)),
        'AuthenticationFailedError',
        /broke the protocol/,
      )
      assert.equal(server.requests.length, 0)
    })

  it('with two codes is refused', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const { started, callback } = await startedAt(partyOf(server), testFlows())
    callback.append('code', 'another')
    await assertFails(testFlows().exchange(started, callback), 'AuthenticationFailedError', /broke the protocol/)
    assert.equal(server.requests.length, 0)
  })

  it('with an error shows its code and its description, plain and short', async (t) => {
    const server = await tokenServer(t, { body: TOKENS })
    const { started } = await startedAt(partyOf(server), testFlows())
    const error = {
      error: '<script>alert(1)</script>',
      error_description: `\u001b[31m<b>no</b>\r\nat-CNRY7d1c5e0b94a8 ${'far too long '.repeat(100_000)}`,
      error_uri: 'javascript:alert(1)',
    }
    const { message } = await assertFails(
      testFlows().exchange(started, callbackOf(started, error)),
      'AuthenticationFailedError',
      /\(_script_alert_1_script_: \[31m<b>no<\/b> \.\.\. far too long/,
    )
    assert.doesNotMatch(message, /javascript|[^ -~]/)
    assert.ok(message.length < 350)
  })
})
