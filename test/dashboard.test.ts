import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { whyNot } from '../tools/available.ts'
import { BROKER } from './broker-command.ts'
import { assertAccessible } from './chromium.ts'
import {
  type Caller,
  caller,
  connect,
  type DaemonUnderTest,
  owner,
  startDaemon,
  suiteCleanup,
  temporaryHome,
} from './daemon-under-test.ts'
import { choose, dialog, gone, heading, notice, openWorld, row, ship } from './dashboard-world.ts'
import { acmeDefinition } from './oauth-login.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'

const ADA = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const EVE = { email: 'eve@example.com', password: 'CNRY another long phrase' }

describe('signing in on the dashboard', { skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  const world = openWorld(cleanup)
  let daemon: DaemonUnderTest
  before(async () => {
    daemon = await startDaemon(cleanup)
  })

  /** An agent that asks to be somebody's. */
  async function waitingAgent(handle: string) {
    const agent = caller(daemon, handle)
    const { body } = await agent.call('POST', '/api/identities/register', { handle, did: agent.key.did })
    return { agent, path: new URL(body.claim_url).pathname }
  }

  it('makes an account, signs out, refuses a wrong password, and signs in', async () => {
    const page = await world.open(daemon)
    await heading(page, 'Sign in')
    world.expect(/422/)
    await signUp(page, { ...ADA, password: 'password123' })
    const field = page.getByLabel('Password', { exact: true })
    await page.locator('[aria-invalid="true"]').waitFor()
    const [id = ''] = ((await field.getAttribute('aria-describedby')) ?? '').split(' ').slice(-1)
    assert.match((await page.locator(`[id="${id}"]`).textContent()) ?? '', /\w/)
    await field.fill(ADA.password)
    await page.keyboard.press('Enter')
    await heading(page, 'Overview')
    await page.getByText('Nothing is connected yet').waitFor()
    await page.getByText(ADA.email).waitFor()

    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'Sign in')
    world.expect(/401/)
    await signIn(page, { ...ADA, password: 'CNRY not this one' })
    await page.getByRole('alert').waitFor()
    await signIn(page, ADA)
    await heading(page, 'Overview')
  })

  it('signs the owner of the machine in by a link, once', async () => {
    const one = await owner(daemon)
    const { body } = await one.call('POST', '/api/session', {})
    const page = await world.open(daemon, body.url)
    await heading(page, 'Overview')
    assert.equal(page.url(), `${daemon.origin}/`)
    await page.getByText('Owner of this machine').waitFor()
    world.expect(/404/)
    const other = await world.open(daemon, body.url)
    await heading(other, 'This link is over')
  })

  it('opens a link from a mail or a chat: a page, a sign-in that asks first, and a claim', async () => {
    const one = await owner(daemon, 'mailer')
    const page = await world.open(daemon)
    await fromElsewhere(page, `${daemon.origin}/connections`)
    await heading(page, 'Sign in')
    const { body } = await one.call('POST', '/api/session', {})
    await fromElsewhere(page, body.url)
    await heading(page, 'Sign this browser in?')
    await assertAccessible(page)
    await page.getByRole('button', { name: 'It is my link: sign in' }).click()
    await heading(page, 'Overview')
    await fromElsewhere(page, `${daemon.origin}/connections`)
    await heading(page, 'Connections')
    const { path } = await waitingAgent('from-a-mail')
    await fromElsewhere(page, daemon.origin + path)
    await page.getByText('Signed in as the owner of this machine.').waitFor()
  })

  it('believes no token that a link brings, and goes nowhere but to a claim', async () => {
    const one = await owner(daemon, 'steady')
    const page = await world.openApart(one, daemon)
    world.expect(/40[13]/)
    await fromElsewhere(page, `${daemon.origin}/#csrf=${'x'.repeat(43)}`)
    await heading(page, 'Overview')
    assert.equal(page.url(), `${daemon.origin}/`)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('this one').waitFor()
    const { body } = await one.call('POST', '/api/session', {})
    const link = new URL(body.url).pathname
    await fromElsewhere(page, `${daemon.origin}/?next=${encodeURIComponent(`/api/claim/..${link.slice(4)}`)}`)
    await heading(page, 'Overview')
    assert.equal((await fetch(body.url, { redirect: 'manual' })).status, 303, 'the link was not used')
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading(page, 'Sign in')
  })

  it('has a page for each address that there is none for, which leads on', async () => {
    const page = await world.open(daemon)
    await signIn(page, ADA)
    await heading(page, 'Overview')
    world.expect(/404/)
    const answer = await page.goto(`${daemon.origin}/no/such%20page?x=1`)
    assert.equal(answer?.status(), 404)
    await heading(page, 'Not found')
    await assertAccessible(page)
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await heading(page, 'Overview')
    const program = await fetch(`${daemon.origin}/no/such`, { headers: { accept: 'application/json' } })
    assert.equal(program.headers.get('content-type'), 'application/json')
  })

  it('offers no sign-up where there is none', async (t) => {
    const closed = await startDaemon(t, { env: { BROKER_REGISTRATION: 'closed' } })
    const page = await world.open(closed)
    await page.getByText('New accounts are closed here').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Make one' }).count(), 0)
    await assertAccessible(page)
  })

  it('claims an agent on the way: sign in, compare, confirm', async () => {
    const { agent, path } = await waitingAgent('walker')
    const page = await world.open(daemon, path)
    await page.getByRole('link', { name: 'Sign in to confirm' }).click()
    await page.getByText('confirm the agent').waitFor()
    await signIn(page, ADA)
    await page.getByText(`Signed in as ${ADA.email}.`).waitFor()
    await page.getByText('walker', { exact: true }).waitFor()
    await page.getByText(agent.key.did).waitFor()
    await page.getByRole('button', { name: 'The codes match' }).click()
    await heading(page, 'Claimed')
    assert.equal((await agent.call('GET', '/api/whoami')).status, 200)
    await page.goto(`${daemon.origin}/agents`)
    await row(page, 'walker').waitFor()
  })

  it('shows a user nothing that only an admin may do, and no event of another', async () => {
    const page = await world.open(daemon)
    await signUp(page, EVE)
    await heading(page, 'Overview')
    await page.getByRole('link', { name: 'Providers' }).click()
    await page.getByLabel('Find a service').fill('openai')
    await row(page, 'OpenAI').first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Register your own' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: /^More about/ }).count(), 0)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByText('What happened with your agents and connections.').waitFor()
    await row(page, 'Account made').waitFor()
    assert.equal(await row(page, 'you, in a browser').count(), await page.locator('.rows tbody tr').count())
    assert.equal(await row(page, 'Agent claimed').count(), 0)
  })

  it('names the browsers that are signed in, and ends one at once', async () => {
    const [here, there] = [await world.open(daemon), await world.open(daemon)]
    for (const page of [here, there]) {
      await signIn(page, EVE)
      await heading(page, 'Overview')
    }
    await here.getByRole('link', { name: 'Settings' }).click()
    await here.getByText('Chrome on Linux').first().waitFor()
    await here.getByText('this one').waitFor()
    world.expect(/401/)
    const others = here.getByRole('button', { name: /Sign .*out/ }).filter({ hasNotText: /^Sign out$/ })
    while ((await others.count()) > 0) {
      const before = await others.count()
      await others.first().click()
      await others.nth(before - 1).waitFor({ state: 'detached' })
    }
    await heading(there, 'Sign in')
  })

  it('changes the password', async () => {
    const page = await world.open(daemon)
    await signIn(page, EVE)
    await heading(page, 'Overview')
    await page.getByRole('link', { name: 'Settings' }).click()
    world.expect(/422/)
    await page.getByLabel('Current password').fill('CNRY not the one')
    await page.getByLabel('New password').fill('CNRY yet another phrase')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByLabel('Current password').and(page.locator('[aria-invalid="true"]')).waitFor()
    await page.getByLabel('Current password').fill(EVE.password)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await notice(page, 'The password is changed')
  })
})

describe('the dashboard of the owner', { skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  const world = openWorld(cleanup)
  let provider: OpenIdProvider
  let daemon: DaemonUnderTest
  let ada: Caller
  before(async () => {
    provider = await startOpenIdProvider()
    cleanup.after(() => provider.close())
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    await define({ name: 'acme' })
    await define({ name: 'acme-tv', display_name: 'Acme TV', flow: 'device_code', hosts: ['tv.acme.example'] })
    await define(
      { name: 'acme-services', display_name: 'Acme Services', hosts: ['services.acme.example'] },
      { grant: 'client_credentials', client_scopes: ['api:read'] },
    )
    await define(
      { name: 'acme-app', display_name: 'Acme Apps', hosts: ['apps.acme.example'] },
      {
        client_id: undefined,
        token_auth_method: 'client_secret_basic',
      },
    )
  })

  async function define(changes: object, oauth: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const definition = { ...acmeDefinition(provider, oauth), ...changes }
    const answer = await ada.call('POST', '/api/providers', { definition, force: true })
    assert.equal(answer.status, 201, answer.text)
  }

  async function beginConnecting(page: Page, name: string): Promise<void> {
    await page.getByLabel('Find a service').fill(name)
    await page.getByRole('button', { name: `Connect ${name}`, exact: true }).click()
    await dialog(page)
      .getByRole('heading', { name: `Connect ${name}` })
      .waitFor()
  }

  it('connects by an API key, and says beside the field what is wrong with one', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'OpenAI')
    await page.getByRole('button', { name: 'Continue' }).click()
    world.expect(/422/)
    const key = dialog(page).getByLabel('OpenAI API key')
    await key.fill('CNRY no key')
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await dialog(page).locator('[aria-invalid="true"]').waitFor()
    await key.fill('sk-CNRYdashboarddashboarddashboard')
    await page.keyboard.press('Enter')
    await page.getByText('OpenAI is connected.').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    await row(page, 'OpenAI').getByText('1 connected').waitFor()
    assert.doesNotMatch(await page.content(), /CNRY/)
  })

  it('stores a key of a form that nobody knows, and says so', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'OpenAI')
    await dialog(page).getByLabel('Name of the connection').fill('odd')
    await page.getByRole('button', { name: 'Continue' }).click()
    await dialog(page).getByLabel('OpenAI API key').fill('CNRYof-another-form')
    await page.keyboard.press('Enter')
    await page.getByText('OpenAI is connected.').waitFor()
    await dialog(page)
      .getByText(/it should look like sk-/)
      .waitFor()
    assert.doesNotMatch(await page.content(), /CNRY/)
  })

  it('names the short names of scopes', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'Google')
    await page.getByText(/Short names: .*gmail, .*drive/).waitFor()
  })

  it('connects to a server of one’s own, and says which address cannot be one', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'GitLab')
    const address = dialog(page).getByLabel('Address of your own server')
    await address.fill('https://api.stripe.com')
    world.expect(/422/)
    await page.getByRole('button', { name: 'Continue' }).click()
    await dialog(page)
      .getByText(/api\.stripe\.com is one of stripe's/)
      .first()
      .waitFor()
    await address.fill('https://git.acme.example/gitlab')
    await page.getByRole('button', { name: 'Continue' }).click()
    await dialog(page).getByLabel('GitLab API key').fill('glpat-CNRYserverofonesown')
    await page.keyboard.press('Enter')
    await page.getByText('GitLab is connected.').waitFor()
    await page.goto(`${daemon.origin}/connections`)
    await row(page, 'GitLab').getByText('git.acme.example').waitFor()
  })

  it('connects by a key that signs, of one line or of many', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'Amazon Web Services')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('Access key id').fill('AKIACNRYDASHBOARD')
    await page.getByLabel('Secret access key').fill('CNRYdashboarddashboard')
    await page.keyboard.press('Enter')
    await page.getByText('Amazon Web Services is connected.').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()

    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    await beginConnecting(page, 'GitHub')
    await page.getByLabel('Key that signs').check()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('App id').fill('12345')
    await page.getByLabel('Installation id').fill('678')
    await page.getByLabel('Private key of the app').fill(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString())
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('GitHub is connected.').waitFor()
    const { connections } = (await ada.call('GET', '/api/connections')).body
    const signing = connections.filter((one: { signing?: string }) => one.signing !== undefined)
    assert.deepEqual(
      signing.map((one: { provider: string; signing: string }) => [one.provider, one.signing]),
      [
        ['aws', 'aws_sigv4'],
        ['github', 'github_app'],
      ],
    )
  })

  it('connects by OAuth: over to the provider in another tab, and the page goes on by itself', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'Acme')
    await page.getByRole('button', { name: 'Continue' }).click()
    const link = page.getByRole('link', { name: `Continue to ${new URL(provider.issuer).host}` })
    const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await tab.getByRole('heading', { name: 'Acme is connected' }).waitFor()
    await page.getByText('Acme is connected.').waitFor()
    assert.equal(new URL(page.url()).pathname, '/providers')
    await page.getByRole('button', { name: 'Done' }).click()
    await row(page, 'acme').first().getByText('1 connected').waitFor()
  })

  it('connects by a code that is entered elsewhere', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'Acme TV')
    await page.getByRole('button', { name: 'Continue' }).click()
    const code = await page.locator('.user-code').textContent()
    await provider.approveDevice(code ?? '')
    await page.getByText('Acme TV is connected.').waitFor()
  })

  it('connects by the id and secret of a client, which is no OAuth app with a place to come back to', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'Acme Services')
    await page.getByLabel('Client ID and secret').check()
    await page.getByText('Unless you say otherwise: api:read').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('Acme Services client ID').fill(provider.clients.service.id)
    await page.getByLabel('Acme Services client secret').fill('CNRYnot-the-one')
    assert.equal(await page.getByText('redirect URI').count(), 0)
    world.expect(/401/)
    await page.keyboard.press('Enter')
    await page.getByText('Acme Services refuses the id or secret').waitFor()
    await page.getByLabel('Acme Services client secret').fill(provider.clients.service.secret)
    await page.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('Acme Services is connected.').waitFor()
    assert.doesNotMatch(await page.content(), /CNRY/)
    await page.getByRole('button', { name: 'Done' }).click()
    await row(page, 'acme-services').first().getByText('1 connected').waitFor()
  })

  it('asks for the OAuth app of one’s own where a provider wants it', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await beginConnecting(page, 'Acme Apps')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText(`${daemon.origin}/auth/callback/oauth`, { exact: true }).waitFor()
    await page.getByLabel('Client ID').fill(provider.clients.confidential.id)
    await page.getByLabel('Client secret').fill(provider.clients.confidential.secret)
    await page.keyboard.press('Enter')
    const link = page.getByRole('link', { name: /^Continue to/ })
    await Promise.all([page.context().waitForEvent('page'), link.click()])
    await page.getByText('Acme Apps is connected.').waitFor()
    assert.doesNotMatch(await page.content(), /CNRY/)
  })

  it('makes a connection the default, logs out of one, and revokes the others', async () => {
    await connect(ada, 'stripe', 'sk_test_CNRYstripestripe')
    await connect(ada, 'stripe', 'sk_test_CNRYstripework', { connection: 'work' })
    const page = await world.openAs(ada, daemon, '/connections?find=stripe')
    await row(page, 'Stripe').nth(1).waitFor()
    await choose(page, 'What to do with stripe · work', 'Make it the default')
    await notice(page, 'work is the default of stripe now')
    await row(page, 'work').getByText('used by default').waitFor()
    await choose(page, 'What to do with stripe · default', 'Log out')
    await dialog(page).getByRole('button', { name: 'Log out' }).click()
    await notice(page, 'Logged out of stripe · default')
    await gone(page)
    assert.equal(await page.locator(':focus').textContent(), 'Connections')
    await choose(page, 'What to do with stripe · work', 'Revoke all of Stripe')
    await dialog(page).getByRole('button', { name: 'Revoke' }).click()
    await notice(page, /^1 connection of stripe removed/)
    await page.getByText('No connection fits').waitFor()
    const left = (await ada.call('GET', '/api/connections')).body.connections
    assert.ok(left.every((one: { provider: string }) => one.provider !== 'stripe'))
  })

  it('shows a credential only after it asked, and the log says so', async () => {
    const secret = 'sk-ant-api03-CNRYrevealrevealreveal'
    await connect(ada, 'anthropic', secret)
    const page = await world.openAs(ada, daemon, '/connections?provider=anthropic&connection=default')
    await page.getByText('[redacted]').waitFor()
    await page.getByRole('button', { name: 'Show the credential' }).click()
    assert.doesNotMatch(await page.content(), /CNRY/)
    await page.getByRole('button', { name: 'Show it' }).click()
    await page.getByText(secret).waitFor()
    await page.getByRole('button', { name: 'Hide the credential' }).click()
    await page.getByText('[redacted]').waitFor()
    assert.doesNotMatch(await page.content(), /CNRY/)
    const { body } = await ada.call('GET', '/api/audit/events?event=connection.revealed&provider=anthropic')
    assert.equal(body.events[0].identity, '(browser)')
  })

  it('registers a provider by a form, with what is wrong beside its field; changes it as JSON; removes it', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await page.getByRole('button', { name: 'Register your own' }).click()
    await page.getByLabel('Name for people').fill('Zephyr')
    await page.getByLabel('Name for commands').fill('Zephyr Inc')
    await page.getByLabel('Hosts', { exact: true }).fill('*.com')
    world.expect(/422/)
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await dialog(page).getByLabel('Name for commands').and(page.locator('[aria-invalid="true"]')).waitFor()
    await page.getByLabel('Name for commands').fill('zephyr')
    await page.getByLabel('Hosts', { exact: true }).fill('api.zephyr.example')
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await notice(page, 'zephyr is registered')
    await gone(page)

    await page.getByLabel('Find a service').fill('zephyr')
    await choose(page, 'More about Zephyr', 'Look at and change the definition')
    const json = page.getByRole('textbox', { name: 'Definition' })
    await json.fill((await json.inputValue()).replace('"Zephyr"', '"Fair Zephyr"').replace('}', ''))
    await page.getByRole('button', { name: 'Save as your own' }).click()
    await page.getByText('This is not JSON').waitFor()
    const { source, ...definition } = (await ada.call('GET', '/api/providers/zephyr')).body
    assert.equal(source, 'custom')
    await json.fill(JSON.stringify({ ...definition, display_name: 'Fair Zephyr' }))
    await page.getByRole('button', { name: 'Save as your own' }).click()
    await row(page, 'Fair Zephyr').waitFor()
    await gone(page)

    await choose(page, 'More about Fair Zephyr', 'Remove')
    await dialog(page).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No provider fits').waitFor()
  })

  it('saves a shipped definition as your own, as it was shown and edited', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await page.getByLabel('Find a service').fill('zenrows')
    await choose(page, 'More about ZenRows', 'Look at and change the definition')
    const json = page.getByRole('textbox', { name: 'Definition' })
    const shown = await json.inputValue()
    assert.equal('source' in JSON.parse(shown), false)
    await json.fill(shown.replace('"ZenRows"', '"Our ZenRows"'))
    await page.getByRole('button', { name: 'Save as your own' }).click()
    await row(page, 'Our ZenRows').waitFor()
    await gone(page)
    const { body } = await ada.call('GET', '/api/providers/zenrows')
    assert.deepEqual(body, { ...JSON.parse(shown), display_name: 'Our ZenRows', source: 'custom' })
    const back = await ada.call('POST', '/api/providers', { definition: body, force: true })
    assert.equal(back.status, 201, back.text)
    assert.equal((await ada.call('DELETE', '/api/providers/zenrows')).body.action, 'reset')
  })

  it('registers a provider as JSON', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await page.getByRole('button', { name: 'Register your own' }).click()
    await page.getByLabel('Name for people').fill('Tides')
    await page.getByRole('button', { name: 'JSON' }).click()
    const json = page.getByRole('textbox', { name: 'Definition' })
    assert.equal(JSON.parse(await json.inputValue()).display_name, 'Tides')
    await json.fill(JSON.stringify({ ...acmeDefinition(provider), name: 'tides', hosts: ['tides.example'] }))
    await page.getByRole('button', { name: 'Register', exact: true }).click()
    await notice(page, 'tides is registered')
    assert.equal((await ada.call('GET', '/api/providers/tides')).status, 200)
  })

  it('keeps what was typed when a definition is written the other way, and what the form has no field for', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    await page.getByRole('button', { name: 'Register your own' }).click()
    await page.getByLabel('Name for people').fill('Rivers')
    await page.getByLabel('Hosts', { exact: true }).fill('api.rivers.example\nb.rivers.example')
    await page.getByLabel('Environment variable').fill('RIVERS_KEY')
    await page.getByRole('button', { name: 'JSON' }).click()
    const json = page.getByRole('textbox', { name: 'Definition' })
    const typed = { ...JSON.parse(await json.inputValue()), name: 'rivers', description: 'Water.' }
    await json.fill(`  ${JSON.stringify(typed)}`)
    await page.getByRole('button', { name: 'a form' }).click()
    assert.equal(await page.getByLabel('Name for people').inputValue(), 'Rivers')
    assert.equal(await page.getByLabel('Name for commands').inputValue(), 'rivers')
    assert.equal(await page.getByLabel('Hosts', { exact: true }).inputValue(), 'api.rivers.example\nb.rivers.example')
    await page.getByRole('button', { name: 'JSON' }).click()
    assert.equal(await json.inputValue(), `  ${JSON.stringify(typed)}`, 'as it was typed')
    await page.getByRole('button', { name: 'a form' }).click()
    await page.getByLabel('Name for people').fill('All Rivers')
    await page.getByRole('button', { name: 'JSON' }).click()
    assert.deepEqual(JSON.parse(await json.inputValue()), { ...typed, display_name: 'All Rivers' })
    await json.fill('{ not JSON')
    await page.getByRole('button', { name: 'a form' }).click()
    await page.getByText('This is not JSON').waitFor()
    assert.equal(await json.inputValue(), '{ not JSON')
  })

  it('asks before a click outside, or Escape, throws away what was typed', async () => {
    const page = await world.openAs(ada, daemon, '/providers')
    const outside = () => page.mouse.click(5, 5)
    await page.getByRole('button', { name: 'Register your own' }).click()
    await page.getByLabel('Name for people').fill('Lakes')
    await outside()
    await page.getByRole('heading', { name: 'Throw away what you typed?' }).waitFor()
    await assertAccessible(page, '[role=alertdialog]')
    await page.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await page.getByLabel('Name for people').inputValue(), 'Lakes')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Throw it away' }).click()
    await gone(page)
    await page.getByRole('button', { name: 'Register your own' }).click()
    await outside()
    await gone(page)
  })

  it('renames an agent and cuts one off', async () => {
    const robot = await owner(daemon, 'robot')
    const page = await world.openAs(ada, daemon, '/agents')
    await choose(page, 'What to do with robot', 'Rename')
    await page.getByLabel('What you call it').fill('Night shift')
    await page.keyboard.press('Enter')
    await row(page, 'Night shift').waitFor()
    await gone(page)
    await choose(page, 'What to do with Night shift', 'Remove')
    await dialog(page).getByRole('button', { name: 'Remove' }).click()
    await notice(page, 'Night shift is cut off')
    await row(page, 'Night shift').waitFor({ state: 'detached' })
    assert.equal((await robot.call('GET', '/api/whoami')).status, 401)
  })

  it('adds an agent by the command that it shows, which is the real one', async () => {
    const page = await world.openAs(ada, daemon, '/agents')
    await page.getByRole('button', { name: 'Add an agent' }).click()
    await dialog(page).getByLabel('What to call it').fill('Not a name')
    await dialog(page).getByText('must be lower-case').waitFor()
    await dialog(page).getByLabel('What to call it').fill('ci-runner')
    const [create = '', use = ''] = await dialog(page).locator('pre').allTextContents()
    assert.equal(create, 'broker agent create ci-runner')
    const env = { BROKER_PORT: String(daemon.port) }
    const made = await type(daemon.home, create, env)
    assert.equal(made.code, 0, made.stderr)
    await page.locator('tr').filter({ hasText: 'ci-runner' }).waitFor({ state: 'attached' })
    for (const line of [use, 'broker run -- true']) {
      const ran = await type(daemon.home, line, env)
      assert.equal(ran.code, 0, ran.stderr)
    }
    const { events } = (await ada.call('GET', '/api/audit/events?event=run.started&identity=ci-runner')).body
    assert.equal(events.length, 1)
  })

  it('shows whoever was removed and goes on trying, by its own key or its run’s', async () => {
    const robot = await owner(daemon, 'night-robot')
    const run = caller(daemon, 'night-robot')
    assert.equal((await robot.call('POST', '/api/runs', { did: run.key.did, command: 'make report' })).status, 201)
    assert.equal((await ada.call('DELETE', '/api/identities/night-robot')).status, 200)
    const tries = async () =>
      (await ada.call('GET', '/api/audit/events?event=identity.refused&identity=night-robot')).body.events.map(
        ({ identity, status }: { identity: string; status: string }) => [identity, status],
      )
    assert.equal((await caller(daemon, 'night-robot').call('GET', '/api/whoami')).status, 401)
    assert.deepEqual(await tries(), [], 'a key that was never its own')
    assert.equal((await robot.call('GET', '/api/whoami')).status, 401)
    assert.equal((await robot.call('GET', '/api/whoami')).status, 401)
    assert.deepEqual(await tries(), [['night-robot', 'denied']], 'once a minute')
    assert.equal((await run.call('POST', '/audit/events', { events: [] })).status, 401)
    assert.deepEqual(await tries(), Array(2).fill(['night-robot', 'denied']))

    const page = await world.openAs(ada, daemon, '/agents')
    await page.getByRole('heading', { name: 'Removed, and still trying' }).waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'night-robot' }).click()
    await row(page, 'Removed agent refused').first().getByText('it was removed').waitFor()
  })

  it('says in each row what it is about: the command, the label, the account, the reason', async () => {
    const robot = await owner(daemon, 'reporter')
    await ada.call('POST', '/api/identities/reporter/label', { label: 'Morning report' })
    await robot.call('POST', '/api/runs', { did: caller(daemon, 'x').key.did, command: 'make report' })
    const request = { method: 'GET', host: 'api.openai.com', port: 443, path: '/v1/files', status: 403 }
    await ship(robot, 1, () => ({ event: 'proxy.denied', status: 'denied', reason: 'no_connection', request }))
    const page = await world.openAs(ada, daemon, '/audit?identity=reporter')
    await row(page, '$ make report').getByText('Morning report').waitFor()
    await row(page, '/v1/files').getByText('no_connection').waitFor()
    assert.match((await row(page, '/v1/files').textContent()) ?? '', /reporter/)
  })

  it('says in words how the daemon is', async () => {
    const page = await world.openAs(ada, daemon, '/settings')
    await page.getByText('The vault seals and opens').waitFor()
    assert.equal(await page.getByRole('listitem').filter({ hasText: 'Failed' }).count(), 0)
    await page.getByText('Master key').waitFor()
  })

  it('sends nothing that a browser needs no more: the cookie alone opens no page of anybody', async () => {
    const page = await world.openApart(ada, daemon)
    await page.evaluate('localStorage.clear()')
    await page.reload()
    await heading(page, 'Sign in')
  })

  it('tells a screen reader which page it is on, and which the browser shows', async () => {
    const page = await world.openAs(ada, daemon)
    await page.getByRole('link', { name: 'Agents' }).first().click()
    await heading(page, 'Agents')
    assert.equal(await page.locator(':focus').textContent(), 'Agents')
    assert.equal(await page.title(), 'Agents · Broker')
    await page.goBack()
    await heading(page, 'Overview')
  })
})

describe('a daemon that restarts', { skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  const world = openWorld(cleanup)

  it('is met again without a click', async (t) => {
    const home = temporaryHome(t)
    const first = await startDaemon(t, { home })
    const ada = await owner(first)
    const page = await world.openApart(ada, first, '/connections')
    await page.getByText('No connections yet').waitFor()
    world.expect(/Failed to load resource|ERR_/)
    await first.stop()
    await page.getByText('The daemon does not answer').waitFor()
    await assertAccessible(page)
    const second = await startDaemon(t, { home, env: { BROKER_PORT: String(first.port) } })
    await connect(caller(second, ada.handle, ada.key), 'openai', 'sk-CNRYrestartrestartrestart')
    await row(page, 'OpenAI').waitFor()
    await page.getByText('The daemon does not answer').waitFor({ state: 'detached' })
  })
})

/** Types a line into a terminal of that home. */
function type(home: string, line: string, env: Readonly<Record<string, string>>) {
  const [, ...args] = line.split(' ')
  const child = spawn(BROKER, args, {
    env: { PATH: process.env['PATH'], HOME: home, BROKER_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return ended(child)
}

async function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly stderr: string }> {
  let stderr = ''
  child.stderr?.on('data', (chunk) => (stderr += chunk))
  const [code] = await once(child, 'close')
  return { code: code as number | null, stderr }
}

/** As a link in a mail or a chat is followed: from a site that is not the daemon's. */
async function fromElsewhere(page: Page, url: string): Promise<void> {
  const elsewhere = 'http://mail.test/'
  await page.route(elsewhere, (route) =>
    route.fulfill({ contentType: 'text/html', body: `<a href="${url}">from a mail</a>` }),
  )
  await page.goto(elsewhere)
  await page.getByText('from a mail').click()
}

async function fillIn(page: Page, { email, password }: typeof ADA): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
}

async function signIn(page: Page, account: typeof ADA): Promise<void> {
  await fillIn(page, account)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function signUp(page: Page, account: typeof ADA): Promise<void> {
  await page.getByRole('button', { name: 'Make one' }).click()
  await fillIn(page, account)
  await page.getByRole('button', { name: 'Make the account' }).click()
}
