import assert from 'node:assert/strict'
import { afterEach, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { whyNot } from '../tools/available.ts'
import { assertAccessible, launchChromium } from './chromium.ts'
import { type Caller, caller, type DaemonUnderTest, owner, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts'
import { signedIn } from './signed-in-browser.ts'

/** In a name that a provider gives itself. */
const HOSTILE = `<img src=x onerror=alert(1)>"'&`
const PERSON = { email: 'ada@example.com', password: 'CNRY correct horse battery' }
const THEMES = ['light', 'dark'] as const

describe('the pages in a browser', { skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  let browser: Browser
  let provider: OpenIdProvider
  let daemon: DaemonUnderTest
  let ada: Caller
  /** The cookie of somebody who is signed in. */
  let session: { readonly name: string; readonly value: string }
  before(async () => {
    provider = await startOpenIdProvider()
    cleanup.after(() => provider.close())
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    const [name = '', value = ''] = (await signedIn(daemon, 'register', PERSON)).cookie.split('=')
    session = { name, value }
    browser = await launchChromium()
    cleanup.after(() => browser.close())
    const { clients, issuer } = provider
    await define('by-app', { issuer, token_auth_method: 'client_secret_basic' })
    await define('by-code', { issuer, client_id: clients.public.id })
  })

  async function define(name: string, oauth: object): Promise<void> {
    const definition = {
      schema_version: 1,
      name,
      display_name: `Prov ${HOSTILE}`,
      docs_url: 'https://docs.prov.example/apps?a=1&b=2',
      auth_type: 'oauth2',
      flow: 'pkce',
      hosts: [`api.${name}.example`],
      oauth: { scopes: ['openid', 'api:read'], ...oauth },
    }
    const answer = await ada.call('POST', '/api/providers', { definition })
    assert.equal(answer.status, 201, answer.text)
  }

  async function begin(wanted: object): Promise<{ readonly id: string; readonly url: string }> {
    const { body, text } = await ada.call('POST', '/api/auth/sessions', wanted)
    assert.ok(body.next_action, text)
    return { id: body.id, url: body.next_action.url }
  }

  /** What browsers complained of: what their policy kept from happening, failed scripts, calls to elsewhere. */
  const complaints: string[] = []
  const contexts: BrowserContext[] = []
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    assert.deepEqual(complaints.splice(0), [])
  })

  /** In a browser without JavaScript, unless it is asked for. */
  async function open(url: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ javaScriptEnabled: false, ...options })
    contexts.push(context)
    const page = await listening(context)
    await show(page, url)
    return page
  }

  async function listening(context: BrowserContext): Promise<Page> {
    const page = await context.newPage()
    page.on('console', (message) => {
      // The page itself came with a status of 400 or more.
      if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text())
    })
    page.on('dialog', (dialog) => void complaints.push(dialog.message()))
    page.on('request', (request) => {
      const isElsewhere = new URL(request.url()).origin !== daemon.origin
      if (isElsewhere && !request.isNavigationRequest()) complaints.push(request.url())
    })
    return page
  }

  /** As somebody who is signed in, where the address says so. */
  async function show(page: Page, url: string): Promise<void> {
    await page.context().clearCookies()
    if (url.endsWith('#signed-in')) await page.context().addCookies([{ ...session, url: daemon.origin }])
    await page.goto(url)
    // A field that is to have the focus gets it a moment after the page has loaded.
    if ((await page.locator('[autofocus]').count()) > 0) await page.locator('[autofocus]:focus').waitFor()
  }

  const statusOf = async (id: string) => (await ada.call('GET', `/api/auth/sessions/${id}`)).body.status

  /** Each page as it comes from the daemon; the same session may be asked for it again. */
  const pages: readonly (readonly [string, () => Promise<string>])[] = [
    ['the form for a key', async () => (await begin({ provider: 'openai', connection: `key-${unique()}` })).url],
    ['the form for an app', async () => (await begin({ provider: 'by-app', connection: `app-${unique()}` })).url],
    ['the code', async () => (await begin({ provider: 'by-code', flow: 'device_code', connection: unique() })).url],
    ['what is not there', async () => `${daemon.origin}/api/auth/sessions/none/input`],
    ['a login that did not work', async () => deniedAt(await begin({ provider: 'by-code', connection: unique() }))],
    ['a claim, nobody signed in', async () => (await claim()).href],
    ['a claim, to be confirmed', async () => `${(await claim()).href}#signed-in`],
    ['a callback that is nobody’s', async () => `${daemon.origin}/auth/callback/oauth?state=none&code=x`],
  ]

  /** Of an agent that has just asked for it. */
  async function claim(): Promise<URL> {
    const handle = `robot-${unique()}`
    const robot = caller(daemon, handle)
    const { body } = await robot.call('POST', '/api/identities/register', { handle, did: robot.key.did })
    return new URL(body.claim_url)
  }

  function deniedAt({ url }: { readonly url: string }): string {
    const state = new URL(url).searchParams.get('state')
    const query = new URLSearchParams({ error: 'access_denied', error_description: HOSTILE, iss: provider.issuer })
    return `${daemon.origin}/auth/callback/oauth?${query}&state=${state}`
  }

  describe('break no rule of accessibility, and fit on a small phone', () => {
    let page: Page
    before(async () => {
      const context = await browser.newContext({ viewport: { width: 320, height: 568 } })
      cleanup.after(() => context.close())
      page = await listening(context)
    })

    for (const [what, urlOf] of pages)
      for (const colorScheme of THEMES)
        it(`${what}, ${colorScheme}`, async () => {
          await page.emulateMedia({ colorScheme })
          await show(page, await urlOf())
          await assertAccessible(page)
          assert.ok(await page.evaluate('document.documentElement.scrollWidth <= 320'))
          assert.equal(await page.locator('img').count(), 0)
        })
  })

  it('break no rule after a mistake either, and say which field it was', async () => {
    const { url } = await begin({ provider: 'openai', connection: 'mistaken' })
    const page = await open(url, { javaScriptEnabled: true })
    await page.keyboard.type('CNRY not a key')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await assertAccessible(page)
    const field = page.getByLabel('OpenAI API key')
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
    assert.equal(await field.inputValue(), '')
    assert.doesNotMatch(await page.content(), /CNRY/)
  })

  it('say that a key is unlike the usual ones, and take it', async () => {
    const { url } = await begin({ provider: 'openai', connection: 'odd' })
    const page = await open(url, { javaScriptEnabled: true })
    await page.keyboard.type('CNRY-of-another-form')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'OpenAI is connected' }).waitFor()
    assert.match(await page.content(), /does not look like one: .*it is stored all the same/)
    assert.doesNotMatch(await page.content(), /CNRY/)
  })

  it('take a key by keyboard alone, without JavaScript', async () => {
    const { id, url } = await begin({ provider: 'openai', connection: 'typed' })
    const page = await open(url)
    await page.keyboard.type(`sk-CNRY${'k'.repeat(44)}`)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'OpenAI is connected' }).waitFor()
    assert.equal(await statusOf(id), 'completed')
    const again = await page.goto(url)
    assert.equal(again?.status(), 404)
    await page.getByRole('heading', { name: 'Nothing here any more' }).waitFor()
  })

  it('lead from the app through the provider and back by keyboard alone, without JavaScript', async () => {
    const { id, url } = await begin({ provider: 'by-app' })
    const page = await open(url)
    assert.equal(await page.getByLabel('Redirect URI').inputValue(), `${daemon.origin}/auth/callback/oauth`)
    await page.keyboard.type(provider.clients.confidential.id)
    await page.keyboard.press('Tab')
    await page.keyboard.type(provider.clients.confidential.secret)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'is connected' }).waitFor()
    assert.equal(new URL(page.url()).origin, daemon.origin)
    assert.equal(await page.getByRole('heading').textContent(), `Prov ${HOSTILE} is connected`)
    assert.equal(await statusOf(id), 'completed')
  })

  it('show the way on where a browser does not go by itself', async () => {
    await define('by-hand', { issuer: provider.issuer, client_id: undefined })
    const form = await begin({ provider: 'by-hand' })
    const page = await open(form.url, { javaScriptEnabled: true, colorScheme: 'dark' })
    await page.route(`${provider.issuer}/**`, (route) => route.fulfill({ status: 204 }))
    await page.keyboard.type(provider.clients.public.id)
    await page.keyboard.press('Enter')
    const link = page.getByRole('link', { name: `Continue to ${new URL(provider.issuer).host}` })
    await link.waitFor()
    await assertAccessible(page)
    await page.unroute(`${provider.issuer}/**`)
    await link.press('Enter')
    await page.getByRole('heading', { name: 'is connected' }).waitFor()
  })

  it('lead with the code to the provider by keyboard alone, without JavaScript', async () => {
    const { id, url } = await begin({ provider: 'by-code', flow: 'device_code', connection: 'by-keyboard' })
    const page = await open(url)
    const code = page.getByLabel('Your code')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').getAttribute('id'), 'code')
    const spelled = await page.locator('#code-spelled').textContent()
    assert.equal(spelled, `Spelled out: ${[...(await code.inputValue())].join(', ').replace('-', 'dash')}`)
    await page.keyboard.press('Tab')
    const [there] = await Promise.all([page.waitForEvent('popup'), page.keyboard.press('Enter')])
    await there.waitForURL(`${provider.issuer}/**`)
    await provider.approveDevice(await code.inputValue())
    while ((await statusOf(id)) === 'waiting_for_user') await delay(200)
    assert.equal(await statusOf(id), 'completed')
  })
})

let count = 0
function unique(): string {
  count += 1
  return `c${count}`
}
