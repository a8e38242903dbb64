import assert from 'node:assert/strict'
import { afterEach, before } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium, listenForComplaints } from './chromium.ts'
import type { Caller, Cleanup, DaemonUnderTest } from './daemon-under-test.ts'

/** A browser on the dashboard of a daemon; whatever it complains of fails the test, unless the test expects it. */
export function openWorld(cleanup: Cleanup) {
  const complaints: string[] = []
  const expected: RegExp[] = []
  const closers: (() => Promise<void>)[] = []
  /** Pages that stay signed in from test to test, by daemon and key. */
  const signedIn = new Map<string, Page>()
  let browser: Browser
  before(async () => {
    browser = await launchChromium()
    cleanup.after(() => browser.close())
  })
  afterEach(async () => {
    await Promise.all([...closers.splice(0).map((close) => close()), ...[...signedIn.values()].map(putAway)])
    const allowed = expected.splice(0)
    assert.deepEqual(
      complaints.splice(0).filter((text) => !allowed.some((pattern) => pattern.test(text))),
      [],
    )
  })
  return {
    /** What is refused on purpose stands in the console too. */
    expect: (pattern: RegExp) => expected.push(pattern),
    /** What is open now stays open until the suite is over. */
    keep: () => {
      for (const close of closers.splice(0)) cleanup.after(close)
    },
    async open(daemon: DaemonUnderTest, path = '/', options: BrowserContextOptions = {}): Promise<Page> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      closers.push(() => context.close())
      const page = await context.newPage()
      page.setDefaultTimeout(10_000)
      listenForComplaints(page, daemon.origin, complaints)
      await page.goto(new URL(path, daemon.origin).href)
      return page
    },
    /** A page that is signed in, and was before: to open a browser's window and sign it in costs more than most tests do with it. */
    async openAs(one: Caller, daemon: DaemonUnderTest, path = '/'): Promise<Page> {
      const whose = `${daemon.origin} ${one.key.did}`
      const before = signedIn.get(whose)
      const page = before ?? (await this.openApart(one, daemon))
      if (before === undefined) {
        signedIn.set(whose, page)
        const close = closers.pop()
        if (close) cleanup.after(close)
      }
      if (before !== undefined || path !== '/') await page.goto(daemon.origin + path)
      if (path === '/') await heading(page, 'Overview')
      return page
    },
    /** A page of its own, for who leaves it other than it was: signed out, or with another clock. */
    async openApart(
      one: Caller,
      daemon: DaemonUnderTest,
      path = '/',
      options: BrowserContextOptions = {},
    ): Promise<Page> {
      const { body } = await one.call('POST', '/api/session', {})
      const page = await this.open(daemon, body.url, options)
      await heading(page, 'Overview')
      if (path !== '/') await page.goto(daemon.origin + path)
      return page
    },
  }
}

/** Leaves a page as it was at first, with nothing beside it. */
async function putAway(page: Page): Promise<void> {
  const others = page
    .context()
    .pages()
    .filter((other) => other !== page)
  await Promise.all(others.map((other) => other.close()))
  await page.emulateMedia({ colorScheme: null, media: null })
  await page.goto('about:blank')
}

/** Returns where things are found on a page of the dashboard. */
export const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
export const dialog = (page: Page) => page.getByRole('dialog').or(page.getByRole('alertdialog')).last()
export const gone = (page: Page) =>
  page.getByRole('dialog').or(page.getByRole('alertdialog')).waitFor({ state: 'detached' })
export const notice = (page: Page, text: string | RegExp) => page.getByLabel('Notices').getByText(text).waitFor()
export const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

/** Chooses from the menu of a thing. */
export async function choose(page: Page, thing: string, item: string): Promise<void> {
  await page.getByRole('button', { name: thing, exact: true }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

/** Requests as a proxy tells of them. */
export async function ship(one: Caller, count: number, changes: (index: number) => object = () => ({})): Promise<void> {
  for (let at = 0; at < count; at += 1_000) {
    const batch = Array.from({ length: Math.min(1_000, count - at) }, (_, index) => ({
      id: `event-${unique()}`,
      event: 'proxy.request',
      provider: 'openai',
      connection: 'default',
      status: 'success',
      request: { method: 'POST', host: 'api.openai.com', port: 443, path: `/v1/n${at + index}`, status: 200 },
      ...changes(at + index),
    }))
    const answer = await one.call('POST', '/audit/events', { events: batch })
    assert.equal(answer.status, 202, answer.text)
  }
}

let count = 100_000
function unique(): string {
  count += 1
  return String(count)
}
