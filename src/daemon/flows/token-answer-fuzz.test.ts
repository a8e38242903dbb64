import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { partyOf, refreshRequest, scripted, testFlows } from './flows.fixture.ts'

const MEMBERS = [
  'access_token',
  'refresh_token',
  'token_type',
  'expires_in',
  'expires_at',
  'expires',
  'scope',
  'id_token',
  'error',
  'error_description',
  'ok',
  'status',
  'code',
  'body',
  'data',
  'authed_user',
  'instance_url',
  '__proto__',
]

const value = fc.oneof(
  fc.constantFrom('at-CNRY7d1c5e0b94a8', 'bearer', 'Bearer', '3600', '', null, true, false, 0, -1, 3600, 1e99),
  fc.string(),
  fc.jsonValue(),
)
const object = fc.dictionary(
  fc.constantFrom(...MEMBERS),
  fc.oneof(value, fc.dictionary(fc.constantFrom(...MEMBERS), value)),
)
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 204, 302, 400, 401, 429, 500, 503),
  type: fc.constantFrom('application/json', 'application/json', 'application/x-www-form-urlencoded', 'text/html', ''),
  body: fc.oneof(
    object.map((it) => JSON.stringify(it)),
    fc.string(),
    fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
})
const quirks = fc.subarray([
  'tokens_in_authed_user',
  'tokens_in_body',
  'tokens_in_data',
  'api_url_in_instance_url',
] as const)

it('whatever a token endpoint answers, a refresh ends in sane tokens or in a plain reason', async (t) => {
  let next = { status: 200, type: '', body: '' }
  const server = await scripted(t, () => {
    const { status, type, body } = next
    return { status, headers: { 'content-type': type, location: 'https://evil.example/' }, body: Buffer.from(body) }
  })
  const flows = testFlows({ now: () => 0 })

  await fc.assert(
    fc.asyncProperty(answer, quirks, async (said, names) => {
      next = said
      const outcome = await flows.refresh(refreshRequest(partyOf(server, { quirks: [...names] })))
      if (outcome.kind !== 'refreshed') return assert.match(outcome.reason, /^[a-z0-9_.-]{1,64}$/)
      const { accessToken, refreshToken, expiresAt = 1000, scopes, apiUrl = 'https://a/' } = outcome.tokens
      assert.match(accessToken.reveal(), /^[!-~]+$/)
      assert.match(refreshToken?.reveal() ?? 'none', /^[!-~]+$/)
      assert.ok(Number.isInteger(expiresAt) && expiresAt >= 1000 && expiresAt <= 3_153_600_000_000)
      assert.ok(scopes.every((scope) => /^[!-~]+$/.test(scope)))
      assert.match(apiUrl, /^https?:\/\//)
    }),
    { numRuns: 300 },
  )
  assert.equal(({} as { access_token?: string }).access_token, undefined)
})
