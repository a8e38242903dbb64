import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { type Caller, caller, type DaemonUnderTest, owner, send, startDaemon } from './daemon-under-test.ts'
import { expireTokens } from './oauth-login.ts'
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from './scripted-oauth-server.ts'
import { markedSecret, searchForSecrets } from './search-for-secret.ts'

/** An OAuth server, and the secrets that it shares with us and nobody else may get. */
interface Party extends ScriptedServer {
  readonly secrets: readonly string[]
  /** That of the app that a user has made there. */
  readonly appSecret: string
}

const refusal = (error: string): ScriptedAnswer => ({ status: 400, body: { error } })

async function startParty(t: TestContext): Promise<Party> {
  const appSecret = markedSecret('cs-')
  const secrets = [appSecret]
  const granted = (prefix: string) => {
    const token = markedSecret(prefix)
    secrets.push(token)
    return token
  }
  const server = await startScriptedServer(({ path, form }, origin) => {
    if (path === '/.well-known/oauth-authorization-server') return { body: { issuer: origin, ...endpointsOf(origin) } }
    if (path !== '/token' && path !== '/revoke') return undefined
    if (form.get('client_secret') !== appSecret) return refusal('invalid_client')
    if (path === '/revoke') return { status: 200 }
    const isKnown = form.get('grant_type') === 'authorization_code' || secrets.includes(form.get('refresh_token') ?? '')
    if (!isKnown) return refusal('invalid_grant')
    return {
      body: { access_token: granted('at-'), refresh_token: granted('rt-'), token_type: 'bearer', expires_in: 3600 },
    }
  })
  t.after(() => server.close())
  return { ...server, secrets, appSecret }
}

function endpointsOf(origin: string) {
  return { authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` }
}

function definitionAt({ origin }: ScriptedServer, name: string, oauth: object = {}) {
  return {
    schema_version: 1,
    name,
    display_name: name,
    auth_type: 'oauth2',
    flow: 'pkce',
    hosts: [`api.${name}.example`],
    oauth: {
      authorization_url: `${origin}/authorize`,
      token_url: `${origin}/token`,
      revocation_url: `${origin}/revoke`,
      scopes: [],
      token_auth_method: 'client_secret_post',
      ...oauth,
    },
  }
}

interface Story {
  readonly daemon: DaemonUnderTest
  readonly ada: Caller
  readonly acme: Party
  readonly bravo: Party
}

/** Two providers with an app and a connection each. */
async function openStory(t: TestContext): Promise<Story> {
  const [acme, bravo] = [await startParty(t), await startParty(t)]
  const daemon = await startDaemon(t)
  const ada = await owner(daemon)
  for (const [name, party] of [
    ['acme', acme],
    ['bravo', bravo],
  ] as const) {
    const registered = await ada.call('POST', '/api/providers', { definition: definitionAt(party, name) })
    assert.equal(registered.status, 201, registered.text)
    await logIn({ daemon, ada }, name, party.appSecret)
  }
  return { daemon, ada, acme, bravo }
}

async function logIn({ daemon, ada }: Pick<Story, 'daemon' | 'ada'>, provider: string, appSecret: string) {
  const { body } = await ada.call('POST', '/api/auth/sessions', { provider })
  assert.equal(body.next_action.type, 'form')
  const input = { client_id: `${provider}-app`, client_secret: appSecret }
  const led = await ada.call('POST', `/api/auth/sessions/${body.id}/resume`, { input })
  const state = new URL(led.body.next_action.url).searchParams.get('state')
  const page = await send(daemon, 'GET', `/auth/callback/oauth?code=${markedSecret()}&state=${state}`)
  assert.equal(page.status, 200, page.text)
}

/** Changes the files of a daemon that is stopped, lets its tokens end, and starts it again. */
async function attacked(t: TestContext, { daemon, ada }: Story, change: (home: string) => void) {
  const { home } = daemon
  await daemon.stop()
  change(home)
  expireTokens(home)
  const again = await startDaemon(t, { home })
  return { daemon: again, ada: caller(again, ada.handle, ada.key) }
}

const bySql = (sql: string) => (home: string) => {
  const database = new DatabaseSync(join(home, 'server/broker.db'))
  database.exec(sql)
  database.close()
}

const resolve = (ada: Caller, name: string, more: object = {}) =>
  ada.call('POST', '/api/credentials/resolve', { host: `api.${name}.example`, ...more })

async function assertNamed(ada: Caller, pattern: RegExp): Promise<void> {
  const { body, text } = await ada.call('GET', '/api/ready')
  assert.equal(body.status, 'not_ready')
  assert.equal(body.checks.integrity, 'failed')
  assert.match(body.issues.join('\n'), pattern)
  assert.doesNotMatch(text, /CNRY/)
}

/** That no server has seen what belongs to another one. */
function assertKept(parties: readonly Party[]): void {
  for (const party of parties) {
    const traces = party.requests.map(({ path, query, headers, body }) => ({
      where: path,
      bytes: `${path}?${query}\n${JSON.stringify(headers)}\n${body}`,
    }))
    const foreign = parties.flatMap((one) => (one === party ? [] : one.secrets))
    assert.deepEqual(searchForSecrets(traces, foreign), [])
  }
}

/** Each kind of record, of the one provider in place of the other's. */
const swapped = (kind: string) => `
  create temp table before as select * from records where kind = '${kind}';
  update records set (sealed, version) = (select sealed, version from before where before.id <> records.id)
    where kind = '${kind}'`
const renamed = (kind: string) => `
  update records set id = 'x' || id where kind = '${kind}';
  update records set id = case when id like 'xacme/%' then 'bravo/' || substr(id, 7) else 'acme/' || substr(id, 8) end
    where kind = '${kind}'`

describe('the sealed tokens of a login', () => {
  const attacks: readonly (readonly [string, string, RegExp])[] = [
    ['exchanged for those of another provider', swapped('connection'), /connection "acme\/default" was changed/],
    ['under the name of another provider', renamed('connection'), /connection "acme\/default" was changed/],
    ['edited', "update records set sealed = zeroblob(80) where kind = 'connection'", /"acme\/default" was changed/],
    [
      'bound to where another provider sends them',
      `create temp table before as select * from connections;
       update records set binding = (select destination from before where provider = 'bravo') where id = 'acme/default';
       update connections set destination = (select destination from before where provider = 'bravo')
         where provider = 'acme'`,
      /connection "acme\/default" was changed/,
    ],
  ]
  for (const [what, sql, named] of attacks)
    it(`are not used ${what}: nobody is asked to refresh them, or to revoke them`, async (t) => {
      const story = await openStory(t)
      const { ada } = await attacked(t, story, bySql(sql))
      await assertNamed(ada, named)
      const asked = story.acme.requests.length
      for (const question of [{}, { rejected_version: 1 }, { connection: 'default' }]) {
        const answer = await resolve(ada, 'acme', question)
        assert.ok([403, 409].includes(answer.status), answer.text)
        assert.doesNotMatch(answer.text, /CNRY/)
      }
      const revoked = await ada.call('POST', '/api/connections/acme/revoke')
      assert.doesNotMatch(revoked.text, /CNRY/)
      assert.equal(story.acme.requests.length, asked)
      assertKept([story.acme, story.bravo])
    })

  it('in an older version go to nobody but those who granted them, and it is said', async (t) => {
    const story = await openStory(t)
    const path = join(story.daemon.home, 'server/broker.db')
    const read = new DatabaseSync(path)
    const row = read.prepare(`select sealed, version from records where id = 'acme/default'`).get() ?? {}
    read.close()
    expireTokens(story.daemon.home)
    assert.equal((await resolve(story.ada, 'acme')).status, 200)
    const { ada } = await attacked(t, story, () => {
      const database = new DatabaseSync(path)
      database
        .prepare(`update records set sealed = ?, version = ? where id = 'acme/default'`)
        .run(row['sealed'] as Uint8Array, row['version'] as number)
      database.close()
    })
    await assertNamed(ada, /replaced by an older one/)
    await resolve(ada, 'acme')
    assertKept([story.acme, story.bravo])
  })
})

describe('the sealed app of a user', () => {
  const attacks: readonly (readonly [string, string])[] = [
    ['exchanged for that of another provider', swapped('client')],
    ['under the name of another provider', renamed('client')],
    ['edited', "update records set sealed = zeroblob(80) where kind = 'client'"],
  ]
  for (const [what, sql] of attacks)
    it(`is not used ${what}, neither to refresh nor to log in`, async (t) => {
      const story = await openStory(t)
      const { ada } = await attacked(t, story, bySql(sql))
      await assertNamed(ada, /client "acme\/own\/\w+" was changed/)
      const asked = story.acme.requests.length
      for (const name of ['acme', 'bravo']) {
        const answer = await resolve(ada, name)
        assert.ok(answer.status >= 400, answer.text)
        assert.doesNotMatch(answer.text, /CNRY/)
        const { body } = await ada.call('POST', '/api/auth/sessions', { provider: name, connection: 'other' })
        assert.equal(body.next_action.type, 'form')
      }
      assert.equal(story.acme.requests.length, asked)
      assertKept([story.acme, story.bravo])
    })
})

describe('a provider whose definition has changed where its secrets would go', () => {
  const changes: readonly (readonly [string, (evil: Party) => object])[] = [
    ['token_url', ({ origin }) => ({ token_url: `${origin}/token` })],
    ['refresh_url', ({ origin }) => ({ refresh_url: `${origin}/token` })],
    ['revocation_url', ({ origin }) => ({ revocation_url: `${origin}/revoke` })],
    ['userinfo_url', ({ origin }) => ({ userinfo_url: `${origin}/me` })],
    ['issuer', ({ origin }) => ({ issuer: origin, token_url: undefined })],
    ['everything', ({ origin }) => definitionAt({ origin } as Party, 'acme').oauth],
  ]
  for (const [what, change] of changes)
    it(`gets none of them: ${what}`, async (t) => {
      const { daemon, ada, acme, bravo } = await openStory(t)
      const evil = await startParty(t)
      const version = (await resolve(ada, 'acme')).body.version
      const definition = definitionAt(acme, 'acme', change(evil))
      const registered = await ada.call('POST', '/api/providers', { definition, force: true })
      assert.equal(registered.status, 201, registered.text)
      await assertNothingGoes({ daemon, ada, acme, bravo }, evil, version)
    })

  it('gets none of them where its file was edited', async (t) => {
    const story = await openStory(t)
    const evil = await startParty(t)
    const { body } = await resolve(story.ada, 'acme')
    const again = await attacked(t, story, (home) => {
      const file = join(home, 'providers', 'acme.json')
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(story.acme.origin, evil.origin))
    })
    await assertNothingGoes({ ...story, ...again }, evil, body.version)
  })

  async function assertNothingGoes({ daemon, ada, acme, bravo }: Story, evil: Party, version: number): Promise<void> {
    expireTokens(daemon.home)
    const asked = acme.requests.length
    const { connections } = (await ada.call('GET', '/api/connections')).body
    assert.equal(connections[0].status, 'needs_approval')
    for (const question of [{}, { rejected_version: version }]) {
      const refused = await resolve(ada, 'acme', question)
      assert.deepEqual([refused.status, refused.body.error], [403, 'OperationNotAllowedError'])
    }
    const { body } = await ada.call('POST', '/api/auth/sessions', { provider: 'acme', connection: 'other' })
    assert.equal(body.next_action.type, 'form', 'the app is asked for anew')
    assert.equal(acme.requests.length, asked)
    await ada.call('POST', '/api/connections/acme/revoke')
    assert.deepEqual(
      evil.requests.filter(({ method }) => method === 'POST'),
      [],
    )
    assertKept([acme, bravo, evil])
  }
})
