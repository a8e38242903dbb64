import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, beforeEach, describe, it } from 'node:test'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { type Caller, owner, suiteCleanup } from './daemon-under-test.ts'

const DATABRICKS = { DATABRICKS_TOKEN: 'dapiCNRY0123456789', DATABRICKS_HOST: 'https://acme.cloud.databricks.com/' }
const DATADOG = { DD_API_KEY: 'CNRYdd-api', DD_APP_KEY: 'CNRYdd-app' }
const MAILJET = { MJ_APIKEY_PRIVATE: 'CNRYmj-private', MJ_APIKEY_PUBLIC: 'mj-public' }
const ZENDESK = { ZENDESK_API_TOKEN: 'CNRYzd', ZENDESK_EMAIL: 'ada@acme.example', ZENDESK_SUBDOMAIN: 'acme' }

describe('broker onboard with credentials of several parts', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  let ada: Caller
  before(async () => {
    world = await onboarded(cleanup)
    ada = await owner(world.daemon)
  })
  beforeEach(async () => {
    for (const { provider } of (await ada.call('GET', '/api/connections')).body.connections)
      await ada.call('POST', `/api/connections/${provider}/default/logout`, {})
    rmSync(join(world.folder, '.env.local'), { force: true })
  })

  const write = (variables: Readonly<Record<string, string>>, file = '.env') =>
    writeFileSync(
      join(world.folder, file),
      Object.entries(variables)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
  const connection = async (provider: string) =>
    (await ada.call('GET', `/api/connections/${provider}/default?reveal=true`)).body

  const onboard = (...args: readonly string[]) => onboardWith({}, ...args)
  async function onboardWith(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
    const { code, stdout, stderr } = await world.broker(['onboard', '--json', ...args], { env })
    assert.equal(code, 0, stdout + stderr)
    assert.doesNotMatch(stdout + stderr, /CNRY|mj-public|ada@acme/)
    const { imported, results } = JSON.parse(stdout)
    const rows = results.map(({ provider, env_var, source, status, needs }: Record<string, string | undefined>) =>
      [provider, env_var, source, status, needs && `needs ${needs}`].filter((cell) => cell !== undefined).join(' '),
    )
    return { imported, rows, stderr }
  }

  it('imports the parts of each as one, with the address of its tenant, and knows them again', async () => {
    write({ ...DATADOG, ...MAILJET, ...ZENDESK, ...DATABRICKS })
    const parts = [
      'databricks DATABRICKS_TOKEN .env',
      'databricks DATABRICKS_HOST .env',
      'datadog DD_API_KEY .env',
      'datadog DD_APP_KEY .env',
      'mailjet MJ_APIKEY_PRIVATE .env',
      'mailjet MJ_APIKEY_PUBLIC .env',
      'zendesk ZENDESK_API_TOKEN .env',
      'zendesk ZENDESK_EMAIL .env',
      'zendesk ZENDESK_SUBDOMAIN .env',
    ]

    const first = await onboard()

    assert.deepEqual(first.imported, ['databricks', 'datadog', 'mailjet', 'zendesk'])
    assert.deepEqual(
      first.rows,
      parts.map((row) => `${row} imported`),
    )
    assert.deepEqual((await connection('datadog')).credential, { api_key: 'CNRYdd-api', app_key: 'CNRYdd-app' })
    assert.deepEqual((await connection('mailjet')).credential, { api_key: 'CNRYmj-private', consumer_id: 'mj-public' })
    assert.deepEqual((await connection('zendesk')).credential, { api_key: 'CNRYzd', email: 'ada@acme.example' })
    assert.equal((await connection('zendesk')).base_url, 'https://acme.zendesk.com')
    assert.equal((await connection('databricks')).base_url, 'https://acme.cloud.databricks.com')
    assert.deepEqual(
      (await onboard()).rows,
      parts.map((row) => `${row} unchanged`),
    )
  })

  it('lets no file of a folder say where a key of the environment goes', async () => {
    const { DATABRICKS_TOKEN, DATABRICKS_HOST } = DATABRICKS
    write({ DATABRICKS_HOST: 'https://evil.cloud.databricks.com' })
    const alone = await onboardWith({ DATABRICKS_TOKEN })
    assert.deepEqual(alone.rows, ['databricks DATABRICKS_TOKEN environment missing needs DATABRICKS_HOST'])
    assert.match(alone.stderr, /DATABRICKS_HOST in \.env was not used: .*DATABRICKS_TOKEN of the environment/)
    assert.deepEqual((await onboardWith({ DATABRICKS_TOKEN, DATABRICKS_HOST })).imported, ['databricks'])
    assert.equal((await connection('databricks')).base_url, 'https://acme.cloud.databricks.com')
  })

  it('sees that one part differs, an address too, and leaves what is stored alone until told otherwise', async () => {
    write({ ...DATADOG, ...DATABRICKS })
    await onboard()
    const { DATABRICKS_TOKEN } = DATABRICKS
    const other = { DATABRICKS_TOKEN, DATABRICKS_HOST: 'other.cloud.databricks.com' }
    write({ DD_APP_KEY: 'CNRYother', ...other }, '.env.local')

    const { rows } = await onboard()

    assert.deepEqual(rows, [
      'databricks DATABRICKS_TOKEN .env.local different',
      'databricks DATABRICKS_HOST .env.local different',
      'datadog DD_API_KEY .env different',
      'datadog DD_APP_KEY .env.local different',
    ])
    assert.equal((await connection('datadog')).credential.app_key, 'CNRYdd-app')
    assert.deepEqual((await onboard('--overwrite')).imported, ['databricks', 'datadog'])
    assert.equal((await connection('datadog')).credential.app_key, 'CNRYother')
    assert.equal((await connection('databricks')).base_url, 'https://other.cloud.databricks.com')
  })

  it('lets no file of the folder say where the key of another of its files goes', async () => {
    write({ GRAFANA_TOKEN: 'glsa_CNRY0123456789' }, '.env.local')
    write({ GRAFANA_URL: 'https://grafana.acme.example' })
    const { imported, stderr } = await onboard()
    assert.deepEqual(imported, [])
    assert.match(
      stderr,
      /GRAFANA_URL in \.env was not used: a file does not say where GRAFANA_TOKEN in \.env\.local goes/,
    )
  })

  for (const [what, variables] of [
    ['a neighbour of one label', 'OPENAI_BASE_URL=http://vllm:8000/v1'],
    ['a neighbour that is called like the service', 'OPENAI_BASE_URL=http://openai/v1'],
    ['a host without a scheme', 'OPENAI_HOST=gateway'],
    ['an address that a shell would have to make', 'OPENAI_BASE_URL=$(llm-url)/v1'],
    ['an address whose quote is not closed', 'OPENAI_BASE_URL="https://llm.acme.example'],
  ] as const)
    it(`imports no key for the public service that is for ${what}`, async () => {
      writeFileSync(join(world.folder, '.env'), `OPENAI_API_KEY=sk-CNRY0123456789abcdef\n${variables}\n`)
      const { imported, stderr } = await onboard()
      assert.deepEqual(imported, [])
      assert.match(stderr, /OPENAI_API_KEY in \.env was not used: OPENAI_(BASE_URL|HOST) in \.env says/)
    })

  it('takes two lines that end in a carriage return alone for two variables', async () => {
    writeFileSync(
      join(world.folder, '.env'),
      'OPENAI_API_KEY=sk-CNRY0123456789abcdef\rGROQ_API_KEY=gsk_CNRY0123456789\r',
    )
    assert.deepEqual((await onboard()).imported.toSorted(), ['groq', 'openai'])
    assert.equal((await connection('openai')).credential.api_key, 'sk-CNRY0123456789abcdef')
  })

  it('gives nobody the key of another provider that stands under its name, and says whose it is', async () => {
    write({
      OPENAI_API_KEY: `sk-or-v1-CNRY${'a1'.repeat(30)}`,
      ANTHROPIC_API_KEY: `sk-ant-admin01-CNRY${'b2'.repeat(20)}`,
      GROQ_API_KEY: `xai-CNRY${'c3'.repeat(30)}`,
      DEEPSEEK_API_KEY: `sk-CNRY${'d4'.repeat(16)}`,
      MISTRAL_API_KEY: `sk-or-v1-CNRY${'e5'.repeat(30)}`,
    })

    for (const options of [['--scan-only'], []]) {
      const { imported, stderr } = await onboard(...options)
      assert.deepEqual(imported, options.length > 0 ? [] : ['deepseek'])
      for (const [variable, owner] of [
        ['OPENAI_API_KEY', 'openrouter'],
        ['ANTHROPIC_API_KEY', 'anthropic-admin'],
        ['GROQ_API_KEY', 'xai'],
        ['MISTRAL_API_KEY', 'openrouter'],
      ] as const)
        assert.ok(
          stderr.includes(
            `${variable} in .env was not used: it begins as the keys of ${owner} do (\`broker login ${owner}\` stores it there)`,
          ),
          stderr,
        )
    }
  })

  it('says what else it needs, and imports nothing by halves', async () => {
    write({
      MJ_APIKEY_PRIVATE: 'CNRYmj',
      DATABRICKS_TOKEN: 'dapiCNRY4444',
      BRAINTREE_PRIVATE_KEY: 'broker-proxy-managed',
    })

    assert.deepEqual((await onboard()).rows, [
      'databricks DATABRICKS_TOKEN .env missing needs DATABRICKS_HOST',
      'mailjet MJ_APIKEY_PRIVATE .env missing needs MJ_APIKEY_PUBLIC',
    ])
    const { stdout } = await world.broker(['onboard'])
    assert.match(stdout, /^mailjet +MJ_APIKEY_PRIVATE +\.env +needs MJ_APIKEY_PUBLIC too$/m)
  })

  it('takes no notice of a name or an address alone', async () => {
    write({
      MJ_APIKEY_PUBLIC: 'mj-public',
      ZENDESK_EMAIL: 'ada@acme.example',
      ZENDESK_SUBDOMAIN: 'acme',
      DATABRICKS_HOST: 'x',
    })

    assert.deepEqual((await onboard()).rows, [])
  })

  it('knows a further variable of a tenant’s credential again', async () => {
    write({
      JIRA_API_TOKEN: 'ATATTCNRYjira',
      JIRA_TOKEN: 'ATATTCNRYjira',
      JIRA_EMAIL: 'ada@acme.example',
      JIRA_URL: 'Acme.atlassian.net/',
    })

    assert.deepEqual((await onboard()).rows, [
      'jira JIRA_API_TOKEN .env imported',
      'jira JIRA_EMAIL .env imported',
      'jira JIRA_URL .env imported',
      'jira JIRA_TOKEN .env unchanged',
    ])
  })

  it('tells of each further variable of a part', async () => {
    write({
      DATADOG_API_KEY: 'CNRYdd-api',
      DD_APP_KEY: 'CNRYdd-app',
      DD_API_KEY: 'CNRYdd-api',
      DATADOG_APP_KEY: 'CNRYno',
    })

    assert.deepEqual((await onboard()).rows, [
      'datadog DATADOG_API_KEY .env imported',
      'datadog DATADOG_APP_KEY .env imported',
      'datadog DD_API_KEY .env unchanged',
      'datadog DD_APP_KEY .env different',
    ])
  })

  it('sends no key to an address that is none of the provider', async () => {
    for (const address of [
      'https://evil.example',
      'https://acme.cloud.databricks.com.evil.example',
      'CNRY@evil.example',
    ]) {
      write({ ...DATABRICKS, DATABRICKS_HOST: address, ...ZENDESK, ZENDESK_SUBDOMAIN: '"evil.example/#"' })

      const { imported, stderr } = await onboard()

      assert.deepEqual(imported, [])
      assert.match(stderr, /DATABRICKS_HOST in \.env was not used: it gives no address like https:\/\/\{workspace\}/)
      assert.match(stderr, /ZENDESK_SUBDOMAIN in \.env was not used: it gives no address like https:\/\/\{subdomain\}/)
    }
  })

  it('says with --scan-only what the run does: the same decisions in the same words', async () => {
    write({
      // No address of the provider, no key of it, unlike one, one twice, and another beside it.
      ...{ ...DATABRICKS, DATABRICKS_HOST: 'https://evil.example' },
      TWILIO_ACCOUNT_SID: 'CNRYno',
      TWILIO_AUTH_TOKEN: 'CNRYtoken',
      OPENAI_API_KEY: 'CNRYunlike',
      MJ_APIKEY_PRIVATE: 'CNRYmj-private',
      ...{ ...DATADOG, DATADOG_API_KEY: 'CNRYdd-api', DATADOG_APP_KEY: 'CNRYother' },
      XAI_API_KEY: '"CNRY xai twice"',
    })
    const expected = [
      'databricks DATABRICKS_TOKEN .env missing',
      'databricks DATABRICKS_HOST .env missing',
      'datadog DATADOG_API_KEY .env imported',
      'datadog DATADOG_APP_KEY .env imported',
      'datadog DD_API_KEY .env unchanged',
      'datadog DD_APP_KEY .env different',
      'mailjet MJ_APIKEY_PRIVATE .env missing needs MJ_APIKEY_PUBLIC',
      'openai OPENAI_API_KEY .env imported',
      'twilio TWILIO_AUTH_TOKEN .env missing',
      'twilio TWILIO_ACCOUNT_SID .env missing',
      'xai XAI_API_KEY .env missing',
    ]

    const scanned = await onboard('--scan-only')
    const table = (await world.broker(['onboard', '--scan-only'])).stdout
    const { length: stored } = (await ada.call('GET', '/api/connections')).body.connections
    const done = await onboard()

    assert.equal(stored, 0)
    assert.deepEqual(done.rows.toSorted(), expected.toSorted())
    assert.deepEqual(
      scanned.rows,
      done.rows.map((row: string) => row.replace(/ imported$/, ' missing')),
    )
    assert.equal(scanned.stderr.replace(/would be imported/g, 'was imported'), done.stderr)
    assert.match(scanned.stderr, /OPENAI_API_KEY in \.env would be imported, though unlike the keys of openai/)
    assert.match(scanned.stderr, /DATABRICKS_HOST in \.env was not used: it gives no address like/)
    assert.match(table, /^twilio +TWILIO_AUTH_TOKEN +\.env +does not look like one$/m)
  })

  it('promises nothing after a scan that found only what cannot be imported', async () => {
    write({ ...DATABRICKS, DATABRICKS_HOST: 'https://evil.example' })
    const { stdout, stderr } = await world.broker(['onboard', '--scan-only'])
    assert.doesNotMatch(stdout + stderr, /imports what is not stored yet/)
  })

  it('names the part that does not look right', async () => {
    write({ TWILIO_ACCOUNT_SID: 'CNRYno', TWILIO_AUTH_TOKEN: 'CNRYtoken' })

    const { stderr } = await onboard()

    assert.match(stderr, /TWILIO_ACCOUNT_SID in \.env was not imported: it does not look like a key of twilio/)
    assert.doesNotMatch(stderr, /TWILIO_AUTH_TOKEN/)
  })

  it('gives a child of `run` placeholders for the secrets and the rest as it is, and finds no key in them', async () => {
    write({ ...DATADOG, ...MAILJET, ...ZENDESK })
    await onboard()
    write({})

    const { child, end } = await world.startAsking()
    const names = [...Object.keys({ ...DATADOG, ...MAILJET, ...ZENDESK }), 'DATADOG_APP_KEY']
    await end()

    assert.deepEqual(Object.fromEntries(names.map((name) => [name, child.env[name]])), {
      DD_API_KEY: 'broker-proxy-managed',
      DD_APP_KEY: 'broker-proxy-managed',
      DATADOG_APP_KEY: 'broker-proxy-managed',
      MJ_APIKEY_PRIVATE: 'broker-proxy-managed',
      MJ_APIKEY_PUBLIC: 'mj-public',
      ZENDESK_API_TOKEN: 'broker-proxy-managed',
      ZENDESK_EMAIL: 'ada@acme.example',
      ZENDESK_SUBDOMAIN: 'acme',
    })
    // Outside of its run, which has ended.
    const { BROKER_RUN_SOCKET: _, ...env } = child.env
    const { code, stdout } = await world.broker(['onboard', '--json'], { env })
    assert.equal(code, 0, stdout)
    for (const { source, status } of JSON.parse(stdout).results)
      assert.deepEqual([source, status], ['vault', 'only_in_vault'])
  })

  it('asks the daemon once for all that it has to know of the providers', async () => {
    const { body } = await ada.call('GET', '/api/providers?detail=keys')
    const zendesk = body.bundled.find(({ name }: { name: string }) => name === 'zendesk')
    assert.deepEqual(Object.keys(zendesk.keys.env), Object.keys(ZENDESK))
    assert.deepEqual(
      zendesk.keys.fields.map(({ name }: { name: string }) => name),
      ['email', 'api_key'],
    )
    assert.equal(zendesk.keys.needs_base_url, true)
    assert.equal('keys' in (await ada.call('GET', '/api/providers')).body.bundled[0], false)
    assert.equal((await ada.call('GET', '/api/providers?detail=CNRY')).status, 422)
  })
})
