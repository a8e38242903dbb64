import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
    const { imported, results, unknown } = JSON.parse(stdout)
    const reasons = results.flatMap(({ env_var, reason }: Record<string, string>) =>
      reason === undefined ? [] : [`${env_var} ${reason}`],
    ) as readonly string[]
    const rows = results.map(({ provider, env_var, source, status }: Record<string, string>) =>
      [provider, env_var, source, status].join(' '),
    )
    return { imported, rows, stderr, unknown, reasons }
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

  it('imports what docker keeps for Docker Hub, GitHub and Quay, whose hosts are given with a path', async () => {
    mkdirSync(join(people, '.docker'), { recursive: true })
    const auths = {
      'https://index.docker.io/v1/': { auth: btoa('ada:dckr_pat_CNRYa') },
      'ghcr.io': { auth: btoa('ada:ghp_CNRYb') },
      'quay.io/acme': { auth: btoa('acme+ci:CNRYc0123456789') },
    }
    writeFileSync(join(people, '.docker/config.json'), JSON.stringify({ auths }))

    const { imported } = await onboard('--from', 'docker')

    assert.deepEqual(imported.toSorted(), ['docker-hub', 'github-packages', 'quay'])
    assert.equal(await keyOf('quay'), 'CNRYc0123456789')
  })

  it('imports the keys of every other program from where it keeps them, and changes none of their files', async () => {
    const files: Readonly<Record<string, string>> = {
      '.config/glab-cli/config.yml': `hosts:\n  gitlab.com:\n    token: glpat-CNRY${'a'.repeat(16)}\n  git.acme.example:\n    token: CNRY\n`,
      '.cargo/credentials.toml': `[registry]\ntoken = "cio${'CNRY'.repeat(8)}"\n`,
      '.pypirc': `[pypi]\nusername = __token__\npassword = pypi-CNRY${'a'.repeat(60)}\n`,
      '.config/stripe/config.toml': `[default]\ntest_mode_api_key = "rk_test_CNRY${'a'.repeat(20)}"\nlive_mode_api_key = "****1234"\n`,
      '.config/doctl/config.yaml': `access-token: dop_v1_${'c0ffee'.repeat(10)}abcd\n`,
      '.fly/config.yml': `access_token: fo1_CNRY${'a'.repeat(30)}\n`,
      '.cache/huggingface/token': `hf_CNRY${'a'.repeat(30)}\n`,
      '.local/share/com.vercel.cli/auth.json': `{"token": "${'CNRY'.repeat(6)}"}`,
      '.config/netlify/config.json': `{"userId": "u", "users": {"u": {"auth": {"token": "nfp_CNRY${'a'.repeat(36)}"}}}}`,
      '.wrangler/config/default.toml': `api_token = "${'CNRY'.repeat(10)}"\n`,
      '.kube/config': 'users:\n- name: bot\n  user: {token: CNRY}\n',
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(people, name)), { recursive: true })
      writeFileSync(join(people, name), text)
    }

    const { rows, stderr } = await onboard(
      '--from',
      'glab,cargo,pypirc,stripe,doctl,fly,hf,vercel,netlify,wrangler,kube',
    )

    assert.deepEqual(rows.toSorted(), [
      'cloudflare CLOUDFLARE_API_TOKEN wrangler imported',
      'crates-io CARGO_REGISTRY_TOKEN cargo imported',
      'digitalocean DIGITALOCEAN_ACCESS_TOKEN doctl imported',
      'fly-io FLY_API_TOKEN fly imported',
      'gitlab GITLAB_TOKEN glab imported',
      'huggingface HF_TOKEN hf imported',
      'netlify NETLIFY_AUTH_TOKEN netlify imported',
      'pypi PYPI_API_TOKEN pypirc imported',
      'stripe STRIPE_SECRET_KEY stripe imported',
      'vercel VERCEL_TOKEN vercel imported',
    ])
    assert.match(stderr, /git\.acme\.example is for a GitLab of its own: `broker login gitlab --base-url https:\/\/git/)
    assert.match(stderr, /the live key of profile "default" is kept in the keyring/)
    assert.match(stderr, /user "bot" has a token, for a cluster that no provider stands for/)
    assert.doesNotMatch(stderr, /unlike the keys/)
    for (const [name, text] of Object.entries(files)) assert.equal(readFileSync(join(people, name), 'utf8'), text)
  })

  it('names files that cannot be read, with the line, and goes on', async () => {
    const outside = join(people, 'elsewhere')
    mkdirSync(join(people, '.config/glab-cli'), { recursive: true })
    mkdirSync(join(people, '.cargo'), { recursive: true })
    mkdirSync(join(people, '.fly'), { recursive: true })
    writeFileSync(outside, `access_token: fo1_CNRY${'a'.repeat(30)}\n`)
    for (const name of ['.config/glab-cli/config.yml', '.cargo/credentials.toml', '.fly/config.yml'])
      rmSync(join(people, name), { force: true })
    writeFileSync(join(people, '.config/glab-cli/config.yml'), 'hosts:\n\tgitlab.com: CNRY\n')
    execFileSync('mkfifo', [join(people, '.cargo/credentials.toml')])
    symlinkSync(outside, join(people, '.fly/config.yml'))
    writeFileSync(join(people, '.pypirc'), ' '.repeat(1024 * 1024 + 1))

    const { rows, stderr } = await onboard('--from', 'glab,cargo,fly,pypirc,npm')

    assert.deepEqual(rows, ['npm NPM_TOKEN npm imported'])
    assert.match(stderr, /the GitLab CLI's config\.yml was not read: line 2 is not written as expected/)
    assert.match(stderr, /Cargo's credentials was not read: it is no regular file/)
    assert.match(stderr, /flyctl's config\.yml was not read: it is a link out of its folder/)
    assert.match(stderr, /the \.pypirc was not read: it is larger than 1 MiB/)
  })

  it('imports variables of files that are named by their path, or as an agent’s', async () => {
    writeFileSync(join(world.folder, '.envrc'), `export GROQ_API_KEY="gsk_CNRY${'o'.repeat(48)}"\n`)
    writeFileSync(join(world.folder, '.dev.vars'), 'ACME_API_KEY=CNRY0123456789abcdef\nXAI_API_KEY=your-api-key\n')
    mkdirSync(join(people, '.cursor'), { recursive: true })
    const env = { LINEAR_API_KEY: `lin_api_CNRY${'l'.repeat(32)}`, EXA_API_KEY: `\${env:EXA_API_KEY}` }
    writeFileSync(join(people, '.cursor/mcp.json'), JSON.stringify({ mcpServers: { linear: { env } } }))

    assert.deepEqual((await onboard()).rows, [])
    const { rows, stderr, unknown } = await onboard('--from', './.envrc,.dev.vars,cursor')

    assert.deepEqual(rows.toSorted(), [
      'groq GROQ_API_KEY ./.envrc imported',
      `linear LINEAR_API_KEY ${join(people, '.cursor/mcp.json')} imported`,
      'xai XAI_API_KEY .dev.vars skipped',
    ])
    assert.match(
      stderr,
      /EXA_API_KEY in .*mcp\.json \("mcpServers\.linear"\) was not used: a shell would have to make its value/,
    )
    assert.deepEqual(unknown, [{ env_var: 'ACME_API_KEY', source: '.dev.vars' }])
  })

  it('reads what editors take for JSON, names the line where it is none, and goes on', async () => {
    const server = (name: string, key: string) =>
      `  // mine\n  "${name}": { "env": { "${name}_API_KEY": "${key}", }, },\n`
    for (const at of ['.vscode', '.cursor']) mkdirSync(join(world.folder, at), { recursive: true })
    writeFileSync(
      join(world.folder, '.vscode/mcp.json'),
      `{ "servers": {\n${server('LINEAR', `lin_api_CNRY${'l'.repeat(32)}`)}}, }\n`,
    )
    writeFileSync(join(world.folder, '.cursor/mcp.json'), `{\n  "mcpServers": {\n    CNRY "EXA"\n  }\n}\n`)

    const { imported, stderr } = await onboard('--from', 'mcp,./.cursor')

    for (const at of ['.vscode', '.cursor']) rmSync(join(world.folder, at), { recursive: true })
    assert.deepEqual(imported, ['linear'])
    assert.match(stderr, /\.cursor\/mcp\.json was not read: line 3 is not written as expected/)
  })

  it('says which of two keys of one name in a compose file it takes', async () => {
    const service = (end: string) => `{environment: {GROQ_API_KEY: gsk_CNRY${'o'.repeat(47)}${end}}}`
    writeFileSync(join(world.folder, 'compose.yaml'), `services:\n  web: ${service('1')}\n  worker: ${service('2')}\n`)

    const { rows, stderr } = await onboard('--from', './compose.yaml')

    assert.deepEqual(rows, ['groq GROQ_API_KEY ./compose.yaml imported'])
    assert.match(
      stderr,
      /GROQ_API_KEY in \.\/compose\.yaml \(service "worker"\) was not used: service "web" has another value/,
    )
    assert.equal(await keyOf('groq'), `gsk_CNRY${'o'.repeat(47)}1`)
  })

  it('says of which profile a key is that is not taken', async () => {
    mkdirSync(join(people, '.aws'), { recursive: true })
    writeFileSync(
      join(people, '.aws/credentials'),
      `[work]\naws_access_key_id = AKIACNRY000000000002\naws_secret_access_key = your-secret-key\n[my work]\naws_access_key_id = AKIACNRY000000000001\naws_secret_access_key = ${'CNRY/Ab2'.repeat(5)}\n`,
    )

    const { imported, stderr } = await onboard('--from', 'aws')

    assert.deepEqual(imported, [])
    assert.match(stderr, /AWS_SECRET_ACCESS_KEY in aws \("work"\) was not used: it is a placeholder/)
    assert.match(stderr, /profile "my work" was left: .*`broker login aws --connection my-work` stores it/)
  })

  it('has no file say where the key of another file goes', async () => {
    writeFileSync(join(world.folder, '.env'), 'DATABRICKS_HOST=https://evil.cloud.databricks.com\n')
    writeFileSync(join(world.folder, 'mine.env'), `DATABRICKS_TOKEN=dapi${'0c'.repeat(16)}\n`)

    const { rows, stderr } = await onboard('--from', './mine.env')

    assert.deepEqual(rows, ['databricks DATABRICKS_TOKEN ./mine.env missing'])
    assert.match(
      stderr,
      /DATABRICKS_HOST in \.env was not used: a file does not say where DATABRICKS_TOKEN in \.\/mine\.env goes/,
    )
  })

  it('says of each value that was skipped whether it is a placeholder, a reference, or for another place', async () => {
    const lines = ['XAI_API_KEY=changeme', 'EXA_API_KEY=op://a/b/c', 'OPENAI_API_KEY=sk-CNRY7Q2kZm9Rb4TmLcYw']
    writeFileSync(join(world.folder, '.env'), `${lines.join('\n')}\nOPENAI_BASE_URL=https://openrouter.ai/api\n`)
    writeFileSync(join(people, '.npmrc'), '//registry.npmjs.org/:_authToken=npm_xxxxxxxxxxxx\n')

    const { reasons } = await onboard('--from', 'npm')

    assert.deepEqual(reasons.toSorted(), [
      'EXA_API_KEY reference',
      'NPM_TOKEN placeholder',
      'OPENAI_API_KEY other_place',
      'XAI_API_KEY placeholder',
    ])
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
