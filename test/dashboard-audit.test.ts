import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { whyNot } from '../tools/available.ts'
import { type Caller, type DaemonUnderTest, owner, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { dialog, openWorld, row, ship } from './dashboard-world.ts'
import { signedIn } from './signed-in-browser.ts'

describe('the audit page', { skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  const world = openWorld(cleanup)
  let daemon: DaemonUnderTest
  let ada: Caller
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
    await ship(ada, 2_000, (index) => (index % 10 === 0 ? { status: 'denied', event: 'proxy.denied' } : {}))
  })

  const rows = (page: Page) => page.locator('.rows tbody tr:not(.gap)')

  it('shows what happens while it happens', async () => {
    const page = await world.openAs(ada, daemon, '/audit')
    await rows(page).first().waitFor()
    await ship(ada, 1, () => ({
      provider: 'stripe',
      request: { method: 'GET', host: 'h.example', port: 443, path: '/just-now' },
    }))
    await rows(page).first().filter({ hasText: '/just-now' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'stripe' }).waitFor()
  })

  it('never says that what happened is still to come, nor that it is long ago, whatever the clock here says', async () => {
    const page = await world.openApart(ada, daemon)
    for (const hours of [-3, 3]) {
      await page.clock.setFixedTime(Date.now() + hours * 3_600_000)
      await ship(ada, 1)
      await page.goto(`${daemon.origin}/audit`)
      await rows(page).first().waitFor()
      assert.equal(await rows(page).first().locator('time').textContent(), 'just now')
      await page.getByRole('listitem').filter({ hasText: 'openai' }).waitFor()
    }
  })

  it('pages by scrolling, to the very first event', async () => {
    const page = await world.openAs(ada, daemon, '/audit')
    await rows(page).first().waitFor()
    await page.evaluate(`new Promise((done) => {
      const look = () => {
        scrollTo(0, document.body.scrollHeight)
        if (document.querySelector('.rows').innerText.includes('Agent registered')) done()
        else requestAnimationFrame(look)
      }
      look()
    })`)
    await row(page, 'Agent registered').or(row(page, 'Agent claimed')).first().waitFor()
    assert.ok((await rows(page).count()) < 100)
  })

  it('stays where it is read while new events arrive', async () => {
    const page = await world.openAs(ada, daemon, '/audit')
    await rows(page).first().waitFor()
    await page.evaluate('scrollTo(0, 3000)')
    const seen = page.getByText('/v1/n1955', { exact: false })
    await seen.waitFor()
    const placeOf = async () => (await seen.boundingBox())?.y ?? Number.NaN
    const before = await placeOf()
    await ship(ada, 5)
    await page.getByText('The newest 105 events').waitFor({ state: 'attached' })
    assert.ok(Math.abs((await placeOf()) - before) < 8, `moved from ${before} to ${await placeOf()}`)
  })

  it('filters, keeps the filter in the address, and asks for no name that is not whole', async () => {
    const page = await world.openAs(ada, daemon, '/audit')
    await rows(page).first().waitFor()
    await page.getByLabel('Outcome').selectOption('denied')
    await page.getByLabel('Event').selectOption('proxy.denied')
    await page.getByText('The newest 100 events').waitFor()
    assert.equal(await rows(page).filter({ hasNotText: 'Denied' }).count(), 0)
    await page.getByRole('combobox', { name: 'Agent', exact: true }).pressSequentially('ada-')
    await page.getByText('not a whole name yet').waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Agent', exact: true }).getAttribute('aria-invalid'), 'true')
    await page.getByRole('combobox', { name: 'Agent', exact: true }).fill('nobody')
    await page.getByText('No events like these').waitFor()
    assert.equal(new URL(page.url()).search, '?status=denied&event=proxy.denied&identity=nobody')
    await page.reload()
    await page.getByText('No events like these').waitFor()
    await page.getByRole('link', { name: 'Show all events' }).click()
    await rows(page).first().waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Agent', exact: true }).inputValue(), '')
    await page.getByLabel('Time').selectOption('168')
    await page.getByRole('heading', { name: 'Requests in the last 7 days' }).waitFor()
  })

  it('draws what the list shows: of one agent, its own requests alone', async () => {
    const robot = await owner(daemon, 'quiet-robot')
    await ship(robot, 3, () => ({ provider: 'stripe', status: 'failure' }))
    const page = await world.openAs(ada, daemon, '/audit?identity=quiet-robot&event=proxy.request')
    const legend = page.locator('.legend li')
    await legend.filter({ hasText: 'stripe 3' }).waitFor()
    assert.equal(await legend.count(), 1)
    await page.getByLabel('Outcome').selectOption('success')
    await page.getByText('Nothing happened in this time').waitFor()
  })

  it('gives a service one look whatever is drawn, and denied its own', async () => {
    await ship(ada, 1, () => ({ provider: 'stripe' }))
    const page = await world.openAs(ada, daemon, '/audit')
    const lookOf = async (name: string) => {
      const mark = page.locator('.legend li').filter({ hasText: name }).locator('rect')
      await mark.first().waitFor()
      const fill = String(await mark.last().getAttribute('fill'))
      return [await mark.first().getAttribute('class'), fill.slice(-2)]
    }
    const before = [await lookOf('openai'), await lookOf('stripe')]
    assert.notDeepEqual(before[0], before[1])
    await page.getByRole('button', { name: 'by outcome' }).click()
    const denied = await lookOf('denied')
    assert.equal(denied[0], 'series-denied')
    await page.getByLabel('Outcome').selectOption('denied')
    await page.locator('.legend li').filter({ hasText: 'OK' }).waitFor({ state: 'detached' })
    assert.deepEqual(await lookOf('denied'), denied)
    await page.goto(`${daemon.origin}/audit?provider=stripe`)
    assert.deepEqual(await lookOf('stripe'), before[1])
    await page.goto(`${daemon.origin}/audit?provider=openai`)
    assert.deepEqual(await lookOf('openai'), before[0])
  })

  it('prints its list whole, with the numbers of the picture and exact times', async () => {
    const page = await world.openAs(ada, daemon, '/audit?status=denied')
    await rows(page).first().waitFor()
    await page.locator('.chart svg').first().waitFor()
    const printed = page.evaluate<Record<string, string | number>>(`new Promise((resolve) => {
      window.print = () => {
        dispatchEvent(new Event('beforeprint'))
        resolve({
          rows: document.querySelectorAll('.rows tbody tr:not(.gap)').length,
          numbers: document.querySelector('.chart > .numbers')?.innerText,
          time: document.querySelector('.rows time').textContent,
          tally: document.querySelector('.tally').textContent,
        })
        dispatchEvent(new Event('afterprint'))
      }
    })`)
    await page.getByRole('button', { name: 'Print' }).click()
    const paper = await printed
    assert.equal(paper['rows'], 200)
    assert.match(String(paper['numbers']), /openai/)
    assert.match(String(paper['time']), /\d{4}, \d/)
    assert.equal(paper['tally'], '200 events with status denied')
    await page
      .getByRole('status')
      .filter({ hasText: /^200 events$/ })
      .waitFor()
  })

  it('prints what it shows where the browser is told to', async () => {
    const page = await world.openAs(ada, daemon, '/audit')
    await rows(page).first().waitFor()
    await page.evaluate(`addEventListener('beforeprint', () => {
      window.printed = document.querySelectorAll('.rows tbody tr:not(.gap)').length
    })`)
    await page.pdf()
    assert.equal(await page.evaluate('window.printed'), 100)
  })

  it('says whose a browser was, to an admin', async () => {
    const eve = await signedIn(daemon, 'register', { email: 'eve@example.com', password: 'CNRY another long phrase' })
    const begun = await eve.call('POST', '/api/auth/providers/openai/connect', { flow: 'api_key' })
    await eve.call('POST', `/api/auth/sessions/${begun.body.id}/resume`, { input: { api_key: 'sk-CNRYeveeveeveeve' } })
    const page = await world.openAs(ada, daemon, '/audit?event=provider.login')
    await row(page, 'somebody else, in a browser').getByText('eve@example.com').waitFor()
  })

  it('tells everything of one event', async () => {
    const page = await world.openAs(ada, daemon, '/audit?event=proxy.request&identity=ada')
    await rows(page).first().getByRole('button', { name: 'Request' }).click()
    const text = await dialog(page).innerText()
    for (const part of ['api.openai.com', 'POST', 'ada', '443', 'external']) assert.ok(text.includes(part), part)
  })

  it('gives the events as a file, as they are filtered', async () => {
    const page = await world.openAs(ada, daemon, '/audit?status=denied')
    const lines = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: `Export ${name}` }).click(),
      ])
      return readFileSync(await download.path(), 'utf8')
        .trimEnd()
        .split('\n')
    }
    const jsonLines = await lines('JSON Lines')
    assert.equal(jsonLines.length, 200)
    assert.ok(jsonLines.every((line) => JSON.parse(line).status === 'denied'))
    assert.equal((await lines('CSV')).length, 201)
  })
})
