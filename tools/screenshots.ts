/**
 * `npm run screenshots`: the dashboard's pages as pictures in docs/images, of a home with invented services, agents and
 * requests. It needs Chromium, and the dashboard as `npm run build` makes it.
 */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { launchChromium } from '../test/chromium.ts'
import { type Caller, connect, owner, startDaemon } from '../test/daemon-under-test.ts'
import { root } from './source-files.ts'

const FOLDER = join(root, 'docs/images')
const MOST_BYTES = 150_000
const HOUR = 3_600_000

const SHOTS: readonly { readonly name: string; readonly path: string; readonly act?: (page: Page) => Promise<void> }[] =
  [
    { name: 'overview', path: '/' },
    { name: 'connections', path: '/connections' },
    { name: 'providers', path: '/providers?find=git' },
    {
      name: 'connect',
      path: '/providers?find=openai',
      act: async (page) => {
        await page.getByRole('button', { name: 'Connect OpenAI', exact: true }).click()
        await page.getByRole('dialog').getByLabel('Name of the connection').fill('research')
        await page.getByRole('button', { name: 'Continue' }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Connect', exact: true }).waitFor()
      },
    },
    { name: 'agents', path: '/agents' },
    { name: 'audit', path: '/audit' },
    { name: 'settings', path: '/settings' },
  ]

const KEYS: readonly (readonly [provider: string, key: string, connection?: string])[] = [
  ['openai', 'sk-CNRYpicturespicturespictures'],
  ['openai', 'sk-CNRYpicturespictureswork', 'work'],
  ['anthropic', 'sk-ant-api03-CNRYpicturespictures'],
  ['stripe', 'sk_test_CNRYpicturespictures'],
  ['notion', 'ntn_CNRYpicturespicturespictures'],
  ['sendgrid', 'SG.CNRYpictures0000000000.CNRYpictures000000000000000000000000000000000'],
]

const REQUESTS = [
  ['openai', 'api.openai.com', '/v1/responses'],
  ['anthropic', 'api.anthropic.com', '/v1/messages'],
  ['openai', 'api.openai.com', '/v1/embeddings'],
  ['stripe', 'api.stripe.com', '/v1/invoices'],
  ['notion', 'api.notion.com', '/v1/pages'],
] as const

const tasks: (() => unknown)[] = []
try {
  await takeScreenshots()
} finally {
  for (const task of tasks.toReversed()) await task()
}

async function takeScreenshots(): Promise<void> {
  const cleanup = { after: (task: () => unknown) => void tasks.push(task) }
  const daemon = await startDaemon(cleanup)
  const laptop = await owner(daemon, 'ada-laptop')
  for (const [provider, key, connection = 'default'] of KEYS) await connect(laptop, provider, key, { connection })
  await useMuch(laptop, 260)
  await useMuch(await owner(daemon, 'release-bot'), 140)
  await useMuch(await owner(daemon, 'night-research'), 320)
  await laptop.call('POST', '/api/identities/night-research/label', { label: 'Research at night' })
  touch(daemon.home)
  const browser = await launchChromium()
  tasks.push(() => browser.close())
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage()
  const { body } = await laptop.call('POST', '/api/session', {})
  await page.goto(body.url)
  mkdirSync(FOLDER, { recursive: true })
  for (const shot of SHOTS) await take(page, daemon.origin, shot)
}

async function take(page: Page, origin: string, { name, path, act }: (typeof SHOTS)[number]): Promise<void> {
  await page.goto(origin + path)
  await page.locator('h1').waitFor()
  await page.locator('.loading').last().waitFor({ state: 'detached' })
  await act?.(page)
  const file = join(FOLDER, `dashboard-${name}.png`)
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' })
  const { size } = statSync(file)
  if (size > MOST_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MOST_BYTES}`)
  process.stdout.write(`${file}: ${(size / 1000).toFixed(0)} kB\n`)
}

/** Requests of the last 23 hours, more of them by day than by night; the same at each run. */
async function useMuch(agent: Caller, count: number): Promise<void> {
  const now = Date.now()
  const next = numbersFrom(count)
  const events = Array.from({ length: count }, (_, index) => {
    const [provider, host, path] = REQUESTS[Math.floor(next() ** 1.6 * REQUESTS.length)] ?? REQUESTS[0]
    const status = next() < 0.02 ? 'denied' : next() < 0.05 ? 'failure' : 'success'
    const hoursAgo = 23 * (next() < 0.5 ? next() : (next() + next() + next()) / 3)
    return {
      id: `picture-${index}-${agent.handle}`,
      event: status === 'denied' ? 'proxy.denied' : 'proxy.request',
      provider,
      connection: 'default',
      status,
      ...(status === 'denied' && { reason: 'the run may not use this provider' }),
      timestamp: new Date(now - Math.max(0.02, hoursAgo) * HOUR).toISOString(),
      request: { method: 'POST', host, port: 443, path, status: status === 'failure' ? 500 : 200, duration_ms: 240 },
    }
  }).toSorted((a, b) => a.timestamp.localeCompare(b.timestamp))
  const answer = await agent.call('POST', '/audit/events', { events })
  if (answer.status !== 202) throw new Error(answer.text)
}

/** From 0 to 1, by a linear congruence: one and the same sequence for each beginning. */
function numbersFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** As if the connections had been used, and one had been refused by its provider. */
function touch(home: string): void {
  const database = new DatabaseSync(join(home, 'server', 'broker.db'), { timeout: 5_000 })
  const used = database.prepare('update connections set last_used_at = ? where provider = ?')
  for (const [index, provider] of ['openai', 'anthropic', 'stripe', 'notion'].entries()) {
    used.run(new Date(Date.now() - (index + 0.2) * index * HOUR).toISOString(), provider)
  }
  database.prepare("update connections set problem = 'needs_login' where provider = 'sendgrid'").run()
  database.close()
}
