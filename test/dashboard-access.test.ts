import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { before, describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { whyNot } from '../tools/available.ts'
import { assertAccessible } from './chromium.ts'
import { type Caller, connect, type DaemonUnderTest, owner, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { dialog, gone, heading, openWorld, ship } from './dashboard-world.ts'

const HOSTILE = `<img src=x onerror=alert(1)>"'&{{7*7}}`
/** Reads backwards, ends in nothing that is seen, rings. */
const UNSEEN = '\u202egnp.exe\u200b\u0007\u2066x'
const SPELLED = '\\u202egnp.exe\\u200b\\u0007\\u2066x'
const PAGES = ['/', '/connections', '/providers', '/agents', '/audit', '/settings'] as const
const THEMES = ['light', 'dark'] as const
const SMALL = { width: 320, height: 568 }
const WIDTHS = [320, 360, 480, 600, 753, 768, 820, 905, 1024, 1280, 1920]

describe('everybody can use the dashboard', { skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  const world = openWorld(cleanup)
  let daemon: DaemonUnderTest
  let ada: Caller
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    const definition = {
      schema_version: 1,
      name: 'hostile',
      display_name: HOSTILE,
      auth_type: 'api_key',
      flow: 'api_key',
      hosts: ['api.hostile.example'],
      api_key: { header_name: 'Authorization' },
    }
    await ada.call('POST', '/api/providers', { definition })
    await connect(ada, 'hostile', 'CNRYhostilehostile')
    await connect(ada, 'openai', 'sk-CNRYeverybodyeverybody')
    await connect(ada, 'openai', 'sk-CNRYeverybodyeverywork', { connection: 'work' })
    setAccount(daemon.home, { label: HOSTILE + UNSEEN })
    await ada.call('POST', '/api/identities/ada/label', { label: HOSTILE })
    await shipHostile()
  })

  async function shipHostile(): Promise<void> {
    const request = { method: 'GET', host: HOSTILE + UNSEEN, port: 443, path: `/${HOSTILE}${UNSEEN}`, status: 200 }
    await ship(ada, 20, () => ({ reason: HOSTILE + UNSEEN, provider: 'hostile', request }))
  }

  for (const colorScheme of THEMES) {
    it(`breaks no rule of accessibility on any page: ${colorScheme}`, async () => {
      const page = await world.openApart(ada, daemon, '/', { colorScheme })
      for (const path of PAGES) {
        await page.goto(daemon.origin + path)
        await settled(page)
        await assertAccessible(page)
      }
      await page.goto(`${daemon.origin}/audit?identity=nobody`)
      await page.getByText('No events like these').waitFor()
      await assertAccessible(page)
      await page.evaluate('localStorage.clear()')
      await page.goto(daemon.origin)
      await heading(page, 'Sign in')
      await assertAccessible(page)
      await page.getByRole('button', { name: 'Make one' }).click()
      await assertAccessible(page)
    })
  }

  describe('fits at each width', () => {
    let page: Page
    before(async () => {
      page = await world.openApart(ada, daemon)
      world.keep()
    })

    for (const path of PAGES)
      it(`every page with its menu: ${path}`, async () => {
        await page.goto(daemon.origin + path)
        await settled(page)
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 700 })
          await laidOut(page)
          await assertFits(page, path, width)
          for (const box of await visibleBoxes(page, '.rows, .card, .tile, .filters, .page-head, .side a'))
            assertWithin(box, width, path)
          const menus = page.getByRole('button', { name: /^(?:What to do with|More about)/ })
          if ((await menus.count()) === 0) continue
          await menus.last().press('Enter')
          const menu = page.getByRole('menu')
          await menu.waitFor()
          // It is placed after it is there.
          await page.evaluate(`new Promise((resolve) => {
            const look = () => {
              const box = document.querySelector('[role=menu]')?.getBoundingClientRect()
              if (box && box.x >= 0 && box.right <= ${width}) resolve()
              else requestAnimationFrame(look)
            }
            look()
          })`)
          await assertFits(page, path, width)
          if (width === 820)
            for (const colorScheme of THEMES)
              await page.emulateMedia({ colorScheme }).then(() => assertAccessible(page))
          await page.keyboard.press('Escape')
          await menu.waitFor({ state: 'detached' })
        }
      })
  })

  it('fits on a small phone, every page and every dialog', async () => {
    const page = await world.openApart(ada, daemon, '/', { viewport: SMALL })
    for (const path of PAGES) {
      await page.goto(daemon.origin + path)
      await settled(page)
      await assertFits(page, path)
    }
    await assertAccessible(page)
    for (const { path, open } of DIALOGS) {
      await page.goto(daemon.origin + path)
      await open(page)
      await dialog(page).waitFor()
      await assertFits(page, path)
      const box = await dialog(page).boundingBox()
      assert.ok(box && box.x >= 0 && box.x + box.width <= SMALL.width)
    }
  })

  /** Each opened by keyboard alone, from what has the focus again when it is closed. */
  const DIALOGS: readonly {
    readonly path: string
    readonly name: string
    readonly open: (page: Page) => Promise<Locator>
  }[] = [
    { path: '/providers', name: 'Connect OpenAI', open: (page) => press(page, 'Connect OpenAI') },
    { path: '/providers', name: 'Register a provider', open: (page) => press(page, 'Register your own') },
    {
      path: '/providers',
      name: 'The definition of openai',
      open: (page) => press(page, 'More about OpenAI', 'Look at and change the definition'),
    },
    {
      path: '/providers',
      name: `Remove the definition of ${HOSTILE}?`,
      open: (page) => press(page, `More about ${HOSTILE}`, 'Remove'),
    },
    { path: '/connections?find=openai', name: 'OpenAI · default', open: (page) => press(page, 'OpenAI') },
    {
      path: '/connections',
      name: 'Connect OpenAI',
      open: (page) => press(page, 'What to do with openai · work', 'Log in again'),
    },
    {
      path: '/connections',
      name: 'Log out of openai · work?',
      open: (page) => press(page, 'What to do with openai · work', 'Log out'),
    },
    {
      path: '/connections',
      name: 'Revoke everything of openai?',
      open: (page) => press(page, 'What to do with openai · work', 'Revoke all of OpenAI'),
    },
    { path: '/agents', name: 'Add an agent', open: (page) => press(page, 'Add an agent') },
    { path: '/agents', name: `Rename ${HOSTILE}`, open: (page) => press(page, `What to do with ${HOSTILE}`, 'Rename') },
    {
      path: '/agents',
      name: `Remove ${HOSTILE}?`,
      open: (page) => press(page, `What to do with ${HOSTILE}`, 'Remove'),
    },
    { path: '/audit?event=proxy.request', name: 'Request', open: (page) => press(page, 'Request') },
  ]

  describe('by keyboard alone', () => {
    let page: Page
    before(async () => {
      page = await world.openApart(ada, daemon)
      world.keep()
    })

    for (const { path, name, open } of DIALOGS)
      it(`opens and closes, and breaks no rule: ${path} ${name.replace(HOSTILE, '…')}`, async () => {
        await page.goto(daemon.origin + path)
        const opener = await open(page)
        await dialog(page).getByRole('heading', { name, exact: true }).waitFor()
        for (const colorScheme of THEMES) {
          await page.emulateMedia({ colorScheme })
          await assertAccessible(page, '.dialog')
        }
        for (let tabs = 0; tabs < 8; tabs++) {
          await page.keyboard.press('Tab')
          assert.equal(await dialog(page).locator(':focus').count(), 1)
        }
        await page.keyboard.press('Escape')
        await gone(page)
        await opener.and(page.locator(':focus')).waitFor()
      })
  })

  it('connects, shows and logs out by keyboard alone', async () => {
    const page = await world.openAs(ada, daemon, '/providers?find=anthropic')
    await press(page, 'Connect Anthropic')
    await dialog(page).getByLabel('Name of the connection').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await dialog(page).getByLabel('Anthropic API key').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('sk-ant-api03-CNRYkeyboardkeyboard')
    await page.keyboard.press('Enter')
    await dialog(page).getByRole('button', { name: 'Done' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await gone(page)
    assert.equal(await page.locator(':focus').textContent(), 'Connect Anthropic')
    await page.goto(`${daemon.origin}/connections?find=anthropic`)
    await press(page, 'Anthropic')
    await page.getByText('[redacted]').waitFor()
    await page.getByRole('button', { name: 'Show the credential' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('alertdialog').waitFor()
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      await assertAccessible(page, '[role=alertdialog]')
    }
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('CNRYkeyboard').waitFor()
    await page.getByRole('button', { name: 'Hide the credential' }).and(page.locator(':focus')).waitFor()
    await assertAccessible(page)
    await page.keyboard.press('Escape')
    await gone(page)
    await press(page, 'What to do with anthropic · default', 'Log out')
    await dialog(page).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await gone(page)
    assert.equal(await page.locator(':focus').textContent(), 'Connections')
  })

  it('shows hostile text as text, everywhere', async () => {
    const page = await world.openAs(ada, daemon)
    await shipHostile()
    const places = [
      ['/', 'Lately'],
      ['/connections', 'Connections'],
      ['/connections?provider=hostile&connection=default', 'Details'],
      ['/providers?find=hostile', 'Providers'],
      ['/agents', 'Agents'],
      ['/audit', 'Audit'],
      ['/settings', 'Settings'],
    ] as const
    for (const [path, name] of places) {
      await page.goto(daemon.origin + path)
      await settled(page)
      if (path !== '/settings') await page.getByText(HOSTILE).first().waitFor()
      assert.equal(await page.locator('img, [onerror], script:not([src])').count(), 0, name)
      assert.doesNotMatch(await page.content(), /[\u202e\u200b\u0007\u2066]/, name)
    }
    await page.goto(`${daemon.origin}/audit?provider=hostile`)
    await page.getByRole('button', { name: 'Request', exact: true }).first().click()
    await dialog(page)
      .getByText(HOSTILE + SPELLED, { exact: true })
      .first()
      .waitFor()
    const isolation = "getComputedStyle(document.querySelector('[role=dialog] dd bdi')).unicodeBidi"
    assert.equal(await page.evaluate(isolation), 'isolate')
    assert.equal(await page.locator('img, [onerror]').count(), 0)
  })
})

/** By keyboard alone: a button, and an item of the menu that it opens. @returns the button */
async function press(page: Page, button: string, item?: string): Promise<Locator> {
  const opener = page.getByRole('button', { name: button, exact: true }).first()
  await opener.waitFor()
  await opener.focus()
  await page.keyboard.press('Enter')
  if (item === undefined) return opener
  const items = page.getByRole('menuitem')
  const focusedAt = (index: number) => items.nth(index).and(page.locator(':focus')).waitFor()
  await focusedAt(0)
  const place = (await items.allTextContents()).indexOf(item)
  assert.ok(place >= 0, item)
  for (let index = 1; index <= place; index++) {
    await page.keyboard.press('ArrowDown')
    await focusedAt(index)
  }
  await page.keyboard.press('Enter')
  return opener
}

/** Nothing of the page is on its way any more. */
async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await page.locator('.loading').last().waitFor({ state: 'detached' })
}

/** What follows a change of the window has been drawn. */
async function laidOut(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
}

async function assertFits(page: Page, path: string, most = SMALL.width): Promise<void> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  assert.ok(width <= most, `${path} is ${width} wide`)
}

/** All at one moment: the page may be drawing its rows anew. */
function visibleBoxes(page: Page, selector: string): Promise<readonly { x: number; width: number }[]> {
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((part) => part.getBoundingClientRect())
    .filter(({ width, height }) => width > 0 && height > 0)
    .map(({ x, width }) => ({ x, width }))`)
}

function assertWithin(box: { readonly x: number; readonly width: number } | null, width: number, path: string): void {
  assert.ok(box && box.x >= 0 && box.x + box.width <= width, `${path}: ${JSON.stringify(box)}`)
}

/** What a provider said of the account; nothing that this daemon does puts such text there. */
function setAccount(home: string, account: object): void {
  const database = new DatabaseSync(join(home, 'server', 'broker.db'), { timeout: 5_000 })
  database.prepare("update connections set account = ? where provider = 'hostile'").run(JSON.stringify(account))
  database.close()
}
