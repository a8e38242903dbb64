import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, beforeEach, describe, it } from 'node:test'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { type Caller, owner, suiteCleanup } from './daemon-under-test.ts'

const GH = `gho_CNRY${'g'.repeat(32)}`
const NPM = `npm_CNRY${'n'.repeat(32)}`
const HEROKU = `HRKU-CNRY${'h'.repeat(32)}`

describe('broker onboard --from', () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let ada: Caller
  let people: string
  before(async () => {
    world = await onboarded(cleanup)
    ada = await owner(world.daemon)
    people = dirname(world.home)
    mkdirSync(join(people, '.config/gh'), { recursive: true })
  })
  beforeEach(async () => {
    for (const { provider } of await connections())
      await ada.call('POST', `/api/connections/${provider}/default/logout`, {})
    rmSync(join(world.folder, '.env'), { force: true })
    writeFileSync(
      join(people, '.config/gh/hosts.yml'),
      `github.com:\n    users:\n        ada:\n            oauth_token: ${GH}\n    user: ada\n    oauth_token: ${GH}\n`,
    )
    writeFileSync(join(people, '.npmrc'), `//registry.npmjs.org/:_authToken=${NPM}\n`)
    writeFileSync(
      join(people, '.netrc'),
      `machine git.example.com\n  login ada\n  password CNRYnobody\nmachine api.heroku.com\n  login ada\n  password ${HEROKU}\n`,
    )
  })

  const connections = async (): Promise<readonly { readonly provider: string }[]> =>
    (await ada.call('GET', '/api/connections')).body.connections
  const keyOf = async (provider: string) =>
    (await ada.call('GET', `/api/connections/${provider}/default?reveal=true`)).body.credential?.api_key

  async function onboard(...args: readonly string[]) {
    const { code, stdout, stderr } = await world.broker(['onboard', '--json', ...args])
    assert.equal(code, 0, stdout + stderr)
    assert.doesNotMatch(stdout + stderr, /CNRY/)
    const { imported, results } = JSON.parse(stdout)
    const rows = results.map(({ provider, env_var, source, status }: Record<string, string>) =>
      [provider, env_var, source, status].join(' '),
    )
    return { imported, rows, stderr }
  }

  it('imports what the sources have for known providers, beside the .env files, and leaves their files alone', async () => {
    writeFileSync(join(world.folder, '.env'), `GROQ_API_KEY=gsk_CNRY${'o'.repeat(48)}\n`)
    const files = ['.config/gh/hosts.yml', '.npmrc', '.netrc'].map((name) => join(people, name))
    const texts = files.map((file) => readFileSync(file, 'utf8'))

    const { imported, rows, stderr } = await onboard('--from', 'gh,npm,netrc')

    assert.deepEqual(imported.toSorted(), ['github', 'groq', 'heroku', 'npm'])
    assert.deepEqual(rows.toSorted(), [
      'github GITHUB_TOKEN gh imported',
      'groq GROQ_API_KEY .env imported',
      'heroku HEROKU_API_KEY netrc imported',
      'npm NPM_TOKEN npm imported',
    ])
    assert.equal(stderr, '')
    assert.deepEqual([await keyOf('github'), await keyOf('npm'), await keyOf('heroku')], [GH, NPM, HEROKU])
    assert.deepEqual(
      files.map((file) => readFileSync(file, 'utf8')),
      texts,
    )
  })

  it('reads none of them without being told to', async () => {
    assert.deepEqual((await onboard()).rows, [])
  })

  it('imports nothing with --scan-only, changes nothing the second time, and leaves a key that differs alone', async () => {
    assert.deepEqual((await onboard('--from', 'npm', '--scan-only')).rows, ['npm NPM_TOKEN npm missing'])
    assert.deepEqual(await connections(), [])
    assert.deepEqual((await onboard('--from', 'npm')).rows, ['npm NPM_TOKEN npm imported'])
    assert.deepEqual((await onboard('--from', 'npm')).rows, ['npm NPM_TOKEN npm unchanged'])
    writeFileSync(join(people, '.npmrc'), `//registry.npmjs.org/:_authToken=${NPM}2\n`)
    assert.deepEqual((await onboard('--from', 'npm')).rows, ['npm NPM_TOKEN npm different'])
    assert.equal(await keyOf('npm'), NPM)
    assert.deepEqual((await onboard('--from', 'npm', '--overwrite')).rows, ['npm NPM_TOKEN npm imported'])
    assert.equal(await keyOf('npm'), `${NPM}2`)
  })

  it('takes the variable where a source has another key, however often it is told to overwrite', async () => {
    writeFileSync(join(world.folder, '.env'), `NPM_TOKEN=${NPM}2\n`)

    const first = await onboard('--from', 'npm', '--overwrite')
    const second = await onboard('--from', 'npm', '--overwrite')

    assert.deepEqual(first.rows, ['npm NPM_TOKEN .env imported', 'npm NPM_TOKEN npm different'])
    assert.deepEqual(second.rows, ['npm NPM_TOKEN .env unchanged', 'npm NPM_TOKEN npm different'])
    assert.equal(await keyOf('npm'), `${NPM}2`)
  })

  it('tells of what is no key of its provider, or looks unlike one, without showing it', async () => {
    writeFileSync(join(people, '.npmrc'), '//registry.npmjs.org/:_authToken=CNRY-of-another-shape\n')
    writeFileSync(join(people, '.netrc'), 'machine api.heroku.com password "CNRY\\r\\nX-Injected: CNRY"\n')

    const { rows, stderr } = await onboard('--from', 'npm,netrc')

    assert.deepEqual(rows, ['heroku HEROKU_API_KEY netrc missing', 'npm NPM_TOKEN npm imported'])
    assert.match(stderr, /NPM_TOKEN in npm was imported, though unlike the keys of npm/)
    assert.match(stderr, /HEROKU_API_KEY in netrc was not imported: it does not look like a key of heroku/)
  })

  it('gives the password of a machine to no custom provider that claims its host', async () => {
    const definition = {
      schema_version: 1,
      name: 'greedy',
      display_name: 'Greedy',
      auth_type: 'api_key',
      flow: 'api_key',
      hosts: ['elsewhere.example.com', 'git.example.com'],
      env: { GREEDY_KEY: 'credential' },
      api_key: { prefix: 'Bearer' },
    }
    const { status, text } = await ada.call('POST', '/api/providers', { definition })
    assert.equal(status, 201, text)

    assert.deepEqual((await onboard('--from', 'netrc')).imported, ['heroku'])
  })

  it('imports the password that docker keeps for a registry of a provider', async () => {
    mkdirSync(join(people, '.docker'), { recursive: true })
    const auths = {
      'registry.npmjs.org': { auth: btoa(`ada:${NPM}`) },
      'elsewhere.example': { auth: btoa('ada:CNRY') },
    }
    writeFileSync(join(people, '.docker/config.json'), JSON.stringify({ auths, credsStore: 'desktop' }))

    const { rows, stderr } = await onboard('--from', 'docker')

    assert.deepEqual(rows, ['npm NPM_TOKEN docker imported'])
    assert.equal(await keyOf('npm'), NPM)
    assert.match(stderr, /docker keeps its passwords with the program docker-credential-desktop, which is not run/)
  })

  it('says where the GitHub CLI keeps a token that is not in its file', async () => {
    writeFileSync(join(people, '.config/gh/hosts.yml'), 'github.com:\n    users:\n        ada:\n    user: ada\n')

    const { rows, stderr } = await onboard('--from', 'gh')

    assert.deepEqual(rows, [])
    assert.match(stderr, /keyring of the operating system; `gh auth token \| broker login github`/)
  })

  it('refuses what it cannot import from before it does anything', async () => {
    const { code, stdout, stderr } = await world.broker(['onboard', '--from', NPM])
    assert.equal(code, 2)
    assert.doesNotMatch(stdout + stderr, /CNRY/)
    assert.deepEqual(await connections(), [])
  })
})
