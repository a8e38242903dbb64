import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { gitEnvironment, makeRepository, startGitServer } from './git-server.ts'
import type { NamedServer } from './named-server.ts'
import { markedSecret } from './search-for-secret.ts'

interface Service {
  readonly provider: string
  readonly host: string
  readonly user: string
  readonly key: string
  /** At a server of the user's own. */
  readonly connection?: string
}

const SERVICES: readonly Service[] = [
  { provider: 'github', host: 'github.com', user: 'x-access-token', key: markedSecret('ghp_') },
  { provider: 'gitlab', host: 'gitlab.com', user: 'oauth2', key: markedSecret('glpat-') },
  { provider: 'gitlab', host: 'git.acme.example', user: 'oauth2', key: markedSecret('glpat-'), connection: 'acme' },
  {
    provider: 'github',
    host: 'github.acme.example',
    user: 'x-access-token',
    key: markedSecret('ghp_'),
    connection: 'acme',
  },
  { provider: 'bitbucket', host: 'bitbucket.org', user: 'x-token-auth', key: markedSecret('ATCT') },
]
const basic = ({ user, key }: Service) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`

describe('git over https behind broker run', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let root: string
  let server: NamedServer
  let world: BrokerHome
  before(async () => {
    root = join(dirname(temporaryHome(cleanup)), 'repositories')
    mkdirSync(root)
    makeRepository(root, 'tools.git')
    server = await startGitServer(root, Object.fromEntries(SERVICES.map((one) => [one.host, basic(one)])))
    cleanup.after(() => server.close())
    const authority = join(dirname(root), 'authority.pem')
    writeFileSync(authority, server.caPem)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: server.connectTo,
      BROKER_PROXY_CA_FILE: authority,
    })
    for (const { provider, key, host, connection } of SERVICES) {
      const own = connection ? ['--connection', connection, '--base-url', `https://${host}`] : []
      await logIn(world, provider, key, own)
    }
  })

  const git = (...args: readonly string[]) =>
    world.broker(['run', '--', 'git', ...args], { env: gitEnvironment(world.folder) })

  for (const service of SERVICES)
    it(`clones from ${service.host} and pushes to it`, async () => {
      const clone = join(world.folder, service.host)
      const seen = server.seen.length

      const cloned = await git('clone', `https://${service.host}/tools.git`, clone)
      assert.equal(cloned.code, 0, cloned.stderr)
      execFileSync('git', ['-C', clone, 'commit', '--quiet', '--allow-empty', '-m', `From ${service.host}`], {
        env: gitEnvironment(world.folder),
      })
      const pushed = await git('-C', clone, 'push', 'origin', 'main')
      assert.equal(pushed.code, 0, pushed.stderr)

      const head = execFileSync('git', ['-C', join(root, 'tools.git'), 'log', '-1', '--format=%s', 'main'])
      assert.equal(head.toString().trim(), `From ${service.host}`)
      for (const { host, authorization } of server.seen.slice(seen))
        assert.deepEqual([host, authorization], [service.host, basic(service)])
      assert.ok(server.seen.length - seen >= 4, 'two requests for each')
    })

  it('shows the child nothing of the credential, also where it traces what it sends and gives its own', async () => {
    const traced = await world.broker(['run', '--', 'git', 'ls-remote', 'https://ada:CNRYown@github.com/tools.git'], {
      env: { ...gitEnvironment(world.folder), GIT_TRACE_CURL: '1' },
    })
    assert.equal(traced.code, 0, traced.stderr)
    assert.match(traced.stdout, /refs\/heads\/main/)
    for (const service of SERVICES)
      for (const secret of [service.key, basic(service).slice('Basic '.length)])
        assert.equal(`${traced.stdout}${traced.stderr}`.includes(secret), false)
    const config = readFileSync(join(world.folder, 'github.com', '.git', 'config'), 'utf8')
    assert.doesNotMatch(config, /CNRY/)
  })
})
