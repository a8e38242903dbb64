import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { type NamedServer, startNamedServer } from './named-server.ts'
import { markedSecret } from './search-for-secret.ts'

const KEY = { cloud: markedSecret('glpat-'), acme: markedSecret('glpat-'), other: markedSecret('glpat-') }

/** Answers with the credential that came, in whatever header. */
const echo: RequestListener = (request: IncomingMessage, response: ServerResponse) => {
  const { authorization = '', 'private-token': token = '' } = request.headers
  response.end(JSON.stringify({ authorization, token, path: request.url }))
}

function logIn(world: BrokerHome, provider: string, key: string, ...options: readonly string[]) {
  return world.broker(['login', provider, ...options], { input: key })
}

describe('servers of the user’s own', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let server: NamedServer
  let world: BrokerHome
  before(async () => {
    const names = ['gitlab.com', 'git.acme.example', 'git.other.example', 'acme.example']
    server = await startNamedServer(Object.fromEntries(names.map((name) => [name, echo])))
    cleanup.after(() => server.close())
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, server.caPem)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: server.connectTo,
      BROKER_PROXY_CA_FILE: authority,
    })
    const cloud = await logIn(world, 'gitlab', KEY.cloud)
    assert.equal(cloud.code, 0, cloud.stderr)
    for (const [name, url, key] of [
      ['acme', 'https://git.acme.example', KEY.acme],
      ['below', 'https://acme.example/gitlab/', KEY.other],
    ] as const) {
      const { code, stderr } = await logIn(world, 'gitlab', key, '--connection', name, '--base-url', url)
      assert.equal(code, 0, stderr)
    }
  })

  /** Returns what the server got with each request of one run, which names no connection. */
  async function asked(urls: readonly string[], ...options: readonly string[]) {
    const run = await world.startAsking(options)
    const answers = []
    for (const url of urls) answers.push((await run.get(url)).body)
    await run.end()
    return answers
  }

  it('get their own credential, in the form of the service, beside the service itself in one run', async () => {
    const [cloud, acme, git] = await asked([
      'https://gitlab.com/api/v4/user',
      'https://git.acme.example/api/v4/user',
      'https://git.acme.example/tools.git/info/refs',
    ])
    assert.equal(cloud.token, KEY.cloud)
    assert.equal(acme.token, KEY.acme)
    assert.equal(acme.authorization, '')
    assert.equal(git.authorization, `Basic ${btoa(`oauth2:${KEY.acme}`)}`)
  })

  it('get it below the path of their address alone', async () => {
    const [api, git, beside] = await asked([
      'https://acme.example/gitlab/api/v4/user',
      'https://acme.example/gitlab/tools.git/info/refs',
      'https://acme.example/other/api/v4/user',
    ])
    assert.equal(api.token, KEY.other)
    assert.equal(git.authorization, `Basic ${btoa(`oauth2:${KEY.other}`)}`)
    assert.deepEqual([beside.token, beside.authorization.includes(btoa(KEY.other))], ['', false])
  })

  it('are the only ones that a run gets which was started with their connection', async () => {
    const [acme, cloud] = await asked(
      ['https://git.acme.example/api/v4/user', 'https://gitlab.com/api/v4/user'],
      '--connection',
      'gitlab=acme',
    )
    assert.equal(acme.token, KEY.acme)
    assert.equal(cloud, undefined, 'tunnelled, with a certificate that the child does not trust')
  })

  it('are not reached by a run for other providers', async () => {
    const [acme] = await asked(['https://git.acme.example/api/v4/user'], '--only', 'openai')
    assert.equal(acme, undefined, 'tunnelled, with a certificate that the child does not trust')
  })

  it('are explained, and named in the audit log with their connection', async () => {
    const why = await world.broker(['why', 'https://git.acme.example/api/v4/user', '--json'])
    const explanation = JSON.parse(why.stdout)
    assert.deepEqual([explanation.verdict, explanation.provider, explanation.connection], ['inject', 'gitlab', 'acme'])
    assert.deepEqual(explanation.places, ['header PRIVATE-TOKEN'])
    const beside = JSON.parse((await world.broker(['why', 'https://acme.example/other', '--json'])).stdout)
    assert.equal(beside.verdict, 'tunnel')
    const log = JSON.parse((await world.broker(['log', '-n', '50', '--json'])).stdout)
    const used = log.filter(({ event }: { event: string }) => event === 'proxy.request')
    assert.ok(used.some((one: { provider: string; connection: string }) => one.connection === 'acme'))
  })

  it('stay what they are when another connection is the default', async () => {
    assert.equal((await world.broker(['connections', 'set-default', 'gitlab', 'acme'])).code, 0)
    const [cloud, acme] = await asked(['https://gitlab.com/api/v4/user', 'https://git.acme.example/api/v4/user'])
    assert.deepEqual([cloud.token, acme.token], [KEY.cloud, KEY.acme])
    const why = JSON.parse((await world.broker(['why', 'https://gitlab.com/api/v4/user', '--json'])).stdout)
    assert.deepEqual([why.verdict, why.connection], ['inject', 'default'])
    assert.equal((await world.broker(['connections', 'set-default', 'gitlab', 'default'])).code, 0)
  })

  it('use the first connection that is for a place, where the default is for another', async () => {
    const { code } = await logIn(
      world,
      'gitlab',
      KEY.other,
      '--connection',
      'zz',
      '--base-url',
      'https://git.acme.example',
    )
    assert.equal(code, 0)
    assert.equal((await asked(['https://git.acme.example/api/v4/user']))[0].token, KEY.acme)
    const [chosen] = await asked(['https://git.acme.example/api/v4/user'], '--connection', 'gitlab=zz')
    assert.equal(chosen.token, KEY.other)
    assert.equal((await world.broker(['logout', 'gitlab', '--connection', 'zz'])).code, 0)
  })

  it('are known by the address of their API, too', async () => {
    const url = 'https://git.other.example/api/v4'
    const { code } = await logIn(world, 'gitlab', KEY.other, '--connection', 'api', '--base-url', url)
    assert.equal(code, 0)
    const [api] = await asked(['https://git.other.example/api/v4/user'])
    assert.equal(api.token, KEY.other)
    assert.equal((await world.broker(['logout', 'gitlab', '--connection', 'api'])).code, 0)
  })

  it('leave the public service alone where nothing else is connected, and `why` says so', async () => {
    const url = 'https://git.other.example'
    assert.equal((await logIn(world, 'github', `ghp_${'C'.repeat(36)}`, '--base-url', url)).code, 0)
    const why = await world.broker(['why', 'https://api.github.com/user', '--json'])
    assert.deepEqual([why.code, JSON.parse(why.stdout).verdict], [3, 'tunnel'])
    assert.equal((await world.broker(['logout', 'github', '--connection', 'default'])).code, 0)
  })

  it('are not the public service because a variable of a script is empty', async () => {
    const { code, stderr } = await logIn(world, 'gitlab', KEY.other, '--connection', 'none', '--base-url', '')
    assert.equal(code, 2)
    assert.match(stderr, /--base-url.*empty/)
  })

  for (const [what, provider, url, said] of [
    ['a host of another provider', 'gitlab', 'https://api.stripe.com', /one of stripe's/],
    ['the public service itself', 'gitlab', 'https://gitlab.com', /gitlab\.com is the public service/],
    ['plain http elsewhere', 'gitlab', 'http://git.acme.example', /must be https; plain http is for this machine/],
    ['an address', 'gitlab', 'https://10.1.2.3', /must have a name and not an address/],
    ['a user name', 'gitlab', 'https://ada@git2.acme.example', /user name/],
    ['a query', 'gitlab', 'https://git2.acme.example?x=1', /query/],
    ['metadata of a cloud', 'gitlab', 'https://metadata.google.internal', /metadata service/],
    ['loopback without a port', 'openai', 'http://localhost', /must name the port/],
    ['a place that another provider goes to', 'github', 'https://git.acme.example', /connection "acme" of gitlab/],
    ['a service that nobody runs by himself', 'stripe', 'https://pay.acme.example', /must be absent/],
  ] as const)
    it(`are not ${what}`, async () => {
      const { code, stderr } = await logIn(world, provider, KEY.acme, '--connection', 'wrong', '--base-url', url)
      assert.notEqual(code, 0)
      assert.match(stderr, said)
      assert.equal(stderr.includes('CNRY'), false)
    })

  it('are not the daemon', async () => {
    const url = `http://localhost:${world.daemon.port}`
    const { code, stderr } = await logIn(world, 'openai', 'sk-CNRYxxxxxxxxxxxx', '--base-url', url)
    assert.notEqual(code, 0)
    assert.match(stderr, /broker's own address/)
  })

  it('ask for approval where a definition would send their credential elsewhere, and are refused until then', async () => {
    const definition = {
      schema_version: 1,
      name: 'forge',
      display_name: 'Forge',
      auth_type: 'api_key',
      flow: 'api_key',
      hosts: ['api.forge.example'],
      self_hosted: [{ like: 'api.forge.example', path: '/api/*' }],
      api_key: { prefix: 'Bearer' },
    }
    const file = join(world.folder, 'forge.json')
    const register = async (self_hosted: object) => {
      writeFileSync(file, JSON.stringify({ ...definition, ...self_hosted }))
      const done = await world.broker(['provider', 'register', file, '--force', '--yes'])
      assert.equal(done.code, 0, done.stderr)
    }
    await register({})
    assert.equal((await logIn(world, 'forge', 'CNRYforge', '--base-url', 'https://git.other.example')).code, 0)
    const at = 'https://git.other.example'
    const [before, beside] = await asked([`${at}/api/x`, `${at}/x`])
    assert.equal(before.authorization, 'Bearer CNRYforge')
    assert.equal(beside.authorization.includes('CNRYforge'), false)

    await register({ self_hosted: [{ like: 'api.forge.example' }] })
    const [wider] = await asked([`${at}/api/x`])
    assert.equal(wider.error, 'OperationNotAllowedError')
    const why = JSON.parse((await world.broker(['why', `${at}/api/x`, '--json'])).stdout)
    assert.equal(why.verdict, 'refuse')
    assert.match(why.fix, /connections approve forge/)

    await register({ self_hosted: undefined })
    const [gone] = await asked([`${at}/api/x`])
    assert.equal(gone.error, 'OperationNotAllowedError', JSON.stringify(gone))

    await register({ self_hosted: [{ like: 'api.forge.example' }] })
    assert.equal((await world.broker(['connections', 'approve', 'forge', '--yes'])).code, 0)
    const [after] = await asked([`${at}/x`])
    assert.equal(after.authorization, 'Bearer CNRYforge')
  })
})
