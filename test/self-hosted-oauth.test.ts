import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { type Caller, type DaemonUnderTest, owner, send, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { expireTokens } from './oauth-login.ts'
import { type ScriptedServer, startScriptedServer } from './scripted-oauth-server.ts'

/** Grants whatever it is asked for, as GitLab does. */
async function startGitLab(): Promise<ScriptedServer> {
  let granted = 0
  return startScriptedServer(({ path, method }) => {
    if (method !== 'POST') return undefined
    if (path === '/gitlab/oauth/revoke') return { body: {} }
    if (path !== '/gitlab/oauth/token') return undefined
    granted += 1
    return {
      body: {
        access_token: `CNRYaccess${granted}`,
        refresh_token: `CNRYrefresh${granted}`,
        token_type: 'Bearer',
        expires_in: 7200,
      },
    }
  })
}

describe('OAuth at a server of the user’s own', { timeout: 60_000 }, () => {
  const cleanup = suiteCleanup()
  let gitlab: ScriptedServer
  let daemon: DaemonUnderTest
  let ada: Caller
  let port: number
  let baseUrl: string
  before(async () => {
    gitlab = await startGitLab()
    cleanup.after(() => gitlab.close())
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    port = gitlab.port
    baseUrl = `http://127.0.0.1:${port}/gitlab`
  })
  const resolve = (path: string) =>
    ada.call('POST', '/api/credentials/resolve', { host: '127.0.0.1', port, method: 'GET', path })

  it('is at its own endpoints, with an app of that server', async () => {
    const begun = await ada.call('POST', '/api/auth/sessions', { provider: 'gitlab', flow: 'pkce', base_url: baseUrl })
    assert.equal(begun.status, 201, begun.text)
    assert.equal(begun.body.next_action.type, 'form')
    const input = { client_id: 'own-app', client_secret: 'CNRYappsecret' }
    const sent = await ada.call('POST', `/api/auth/sessions/${begun.body.id}/resume`, { input })
    assert.equal(sent.status, 200, sent.text)
    const url = new URL(sent.body.next_action.url)
    assert.equal(url.origin + url.pathname, `${baseUrl}/oauth/authorize`)
    assert.equal(url.searchParams.get('client_id'), 'own-app')
    const back = new URLSearchParams({ code: 'CNRYcode', state: url.searchParams.get('state') ?? '' })
    const page = await send(daemon, 'GET', `/auth/callback/oauth?${back}`)
    assert.equal(page.status, 200, page.text)
    assert.equal(gitlab.requestsTo('/gitlab/oauth/token').length, 1)
  })

  it('gives its requests the token, in the form that each place wants', async () => {
    const api = await resolve('/gitlab/api/v4/user')
    assert.deepEqual(api.body.headers, { Authorization: 'Bearer CNRYaccess1' })
    const git = await resolve('/gitlab/tools.git/info/refs')
    assert.deepEqual(git.body.headers, { Authorization: `Basic ${btoa('oauth2:CNRYaccess1')}` })
    assert.equal((await resolve('/other')).status, 404)
  })

  it('is refreshed there, by the app that is kept for it', async () => {
    expireTokens(daemon.home)
    const api = await resolve('/gitlab/api/v4/user')
    assert.deepEqual(api.body.headers, { Authorization: 'Bearer CNRYaccess2' })
    const [, refresh] = gitlab.requestsTo('/gitlab/oauth/token')
    assert.equal(refresh?.form.get('refresh_token'), 'CNRYrefresh1')
    const again = await ada.call('POST', '/api/auth/sessions', {
      provider: 'gitlab',
      flow: 'pkce',
      base_url: baseUrl,
      connection: 'second',
    })
    assert.equal(again.body.next_action.type, 'open_url')
  })

  it('knows no app of another server', async () => {
    const other = await ada.call('POST', '/api/auth/sessions', {
      provider: 'gitlab',
      flow: 'pkce',
      base_url: 'https://git.other.example',
      connection: 'other',
    })
    assert.equal(other.body.next_action.type, 'form')
  })

  it('ends there what was granted', async () => {
    const revoked = await ada.call('POST', '/api/connections/gitlab/revoke', {})
    assert.equal(revoked.body.remote, 'revoked', revoked.text)
    assert.ok(gitlab.requestsTo('/gitlab/oauth/revoke').length > 0)
  })

  it('is refused where the definition has its endpoints elsewhere', async () => {
    const sentry = { provider: 'sentry', flow: 'pkce', base_url: 'https://sentry.acme.example' }
    const { status, body } = await ada.call('POST', '/api/auth/sessions', sentry)
    assert.equal(status, 403)
    assert.match(body.message, /by OAuth at a server of your own/)
    assert.match(body.hint, /--flow api_key/)
    const app = { provider: 'github', signing: true, base_url: 'https://github.acme.example' }
    assert.equal((await ada.call('POST', '/api/auth/sessions', app)).status, 403)
  })
})

describe('two sites of one service', { timeout: 60_000 }, () => {
  const cleanup = suiteCleanup()
  let ada: Caller
  before(async () => {
    ada = await owner(await startDaemon(cleanup))
    for (const site of ['one', 'two']) {
      const base_url = `https://${site}.atlassian.net`
      const begun = await ada.call('POST', '/api/auth/sessions', { provider: 'jira', connection: site, base_url })
      const input = { email: 'ada@acme.example', api_key: `ATATTCNRY${site}xxxxxxxx` }
      assert.equal((await ada.call('POST', `/api/auth/sessions/${begun.body.id}/resume`, { input })).status, 200)
    }
  })
  const resolved = async (site: string) =>
    (await ada.call('POST', '/api/credentials/resolve', { host: `${site}.atlassian.net`, path: '/rest/api/3/myself' }))
      .body

  it('serve together: each request uses the connection that is for its host', async () => {
    assert.equal((await resolved('one')).connection, 'one')
    assert.equal((await resolved('two')).connection, 'two')
    assert.equal((await resolved('three')).error, 'ProviderNotFoundError')
    const { routes } = (await ada.call('GET', '/api/proxy/routes')).body
    assert.deepEqual(
      routes.map(({ host, connection }: { host: string; connection: string }) => [host, connection]),
      [
        ['one.atlassian.net', 'one'],
        ['two.atlassian.net', 'two'],
      ],
    )
  })

  it('use the first that was made where both are for the same place, and the default where that is', async () => {
    const begun = await ada.call('POST', '/api/auth/sessions', {
      provider: 'jira',
      connection: 'also',
      base_url: 'https://two.atlassian.net',
    })
    const input = { email: 'bob@acme.example', api_key: 'ATATTCNRYalsoxxxxxxxx' }
    await ada.call('POST', `/api/auth/sessions/${begun.body.id}/resume`, { input })
    assert.equal((await resolved('two')).connection, 'two')
    await ada.call('POST', '/api/connections/jira/also/default', {})
    assert.equal((await resolved('two')).connection, 'also')
    assert.equal((await resolved('one')).connection, 'one')
  })
})
