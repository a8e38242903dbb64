import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  startDaemon,
  suiteCleanup,
} from './daemon-under-test.ts'

const HOST = 'sts.eu-west-1.amazonaws.com'
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const ASKED = { host: HOST, method: 'GET', path: '/', sign: { payload: EMPTY } }
const SECRET = 'CNRYwJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLE'
const RESOLVE = '/api/credentials/resolve'

describe('a signature', () => {
  const cleanup = suiteCleanup()
  let daemon: DaemonUnderTest
  let ada: Caller
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    await connect(ada, 'openai', `sk-CNRY${'a'.repeat(44)}`)
    const { body } = await ada.call('POST', '/api/auth/sessions', { provider: 'aws' })
    const input = { access_key_id: 'AKIAEXAMPLE', secret_access_key: SECRET }
    const done = await ada.call('POST', `/api/auth/sessions/${body.id}/resume`, { input })
    assert.equal(done.body.status, 'completed')
  })

  async function run(only: readonly string[]): Promise<Caller> {
    const key = caller(daemon, 'ada')
    const started = await ada.call('POST', '/api/runs', { did: key.key.did, only })
    assert.equal(started.status, 201)
    return key
  }

  it('is had by a run of its provider, and by no other', async () => {
    const one = await run(['aws'])
    const { status, body } = await one.call('POST', RESOLVE, ASKED)
    assert.equal(status, 200)
    assert.match(body.headers.Authorization, /Credential=AKIAEXAMPLE\/\d{8}\/eu-west-1\/sts\/aws4_request, /)
    const other = await run(['openai'])
    assert.equal((await other.call('POST', RESOLVE, ASKED)).status, 404)
  })

  it('is for the host that was matched, however the request names another', async () => {
    const named = (...values: readonly string[]) => ({
      ...ASKED,
      sign: { ...ASKED.sign, headers: values.map((value) => ({ name: 'hOsT', value })) },
    })
    for (const values of [
      ['dynamodb.eu-west-1.amazonaws.com'],
      [HOST, 'evil.test'],
      [`${HOST}:8443`],
      [`${HOST}.`],
      [`${HOST}\u00a0`],
      [`x@${HOST}`],
      [''],
    ])
      assert.equal((await ada.call('POST', RESOLVE, named(...values))).status, 422, values.join())
    for (const value of [HOST.toUpperCase(), ` ${HOST}\t`, `${HOST}:443`])
      assert.equal((await ada.call('POST', RESOLVE, named(value))).status, 200, value)
    for (const host of ['evil.test', `${HOST}.evil.test`, 'evil.eu-west-1.amazonaws.com', 'evil.s3.evil.amazonaws.com'])
      assert.equal((await ada.call('POST', RESOLVE, { ...ASKED, host })).status, 404, host)
    assert.equal((await ada.call('POST', RESOLVE, { ...ASKED, port: 8443 })).status, 404)
  })

  it('covers one request: no line of another fits into any part of it', async () => {
    const line = '\nhost:evil.test'
    const { sign } = ASKED
    for (const asked of [
      { ...ASKED, method: `GET${line}` },
      { ...ASKED, sign: { ...sign, headers: [{ name: 'x-amz-meta', value: `a${line}` }] } },
      { ...ASKED, sign: { ...sign, headers: [{ name: `x-amz-meta:a${line}`, value: 'a' }] } },
      { ...ASKED, sign: { ...sign, payload: `${EMPTY}${line}` } },
      { ...ASKED, sign: { ...sign, scope: { region: `eu${line}`, service: 'sts' } } },
      { ...ASKED, sign: { ...sign, scope: { region: 'eu-west-1', service: 'sts/aws4_request, SignedHeaders=' } } },
    ])
      assert.equal((await ada.call('POST', RESOLVE, asked)).status, 422, JSON.stringify(asked))
    // In a path and a query everything has an escaped form.
    const signature = async (path: string, query: string) => {
      const { status, body } = await ada.call('POST', RESOLVE, { ...ASKED, path, sign: { ...sign, query } })
      assert.equal(status, 200)
      assert.doesNotMatch(JSON.stringify(body), /CNRY|evil|\\n/)
      return body.headers.Authorization
    }
    assert.notEqual(await signature(`/${line}`, ''), await signature('/', line))
  })

  it('is not made of half a question, and the answer shows nothing of the key', async () => {
    for (const asked of [{ host: HOST }, { host: HOST, method: 'GET', path: '/' }, { ...ASKED, path: undefined }]) {
      const { status, text } = await ada.call('POST', RESOLVE, asked)
      assert.equal(status, 422)
      assert.doesNotMatch(text, /CNRY|AKIA/)
    }
  })
})
