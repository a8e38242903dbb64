import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../test/chromium.ts'
import { whyNot } from '../tools/available.ts'
import { pathOf, run } from './child-process.ts'
import { clientOf } from './daemon-client.ts'
import { below, type Finding } from './report.ts'
import { median, percentile, ratioOf } from './statistics.ts'
import { homeEnvironment, runBroker, type World } from './world.ts'

const FEW = { connections: 10, events: 1_000 }
const MANY = { connections: 10_000, events: 1_000_000 }
const ROUNDS = 9
const DAY_MS = 24 * 60 * 60 * 1000

/** What the dashboard asks, and how its pages feel, with little and with much in the home, in one browser. */
export async function measureDashboard({ folder }: World): Promise<readonly Finding[]> {
  const reason = whyNot('chromium')
  if (reason !== false) return [{ measure: 'dashboard', raw: {}, leftOut: reason }]
  const browser = await launchChromium()
  const few = await openHome(browser, join(folder, 'little'), FEW)
  const many = await openHome(browser, join(folder, 'much'), MANY)
  try {
    const questions = await measureQuestions(few, many)
    return [...questions, ...(await measurePages(few, many))]
  } finally {
    await browser.close()
    await few.stop()
    await many.stop()
  }
}

interface Home {
  readonly page: Page
  readonly origin: string
  stop(): Promise<string>
}

async function openHome(browser: Browser, home: string, size: typeof FEW): Promise<Home> {
  process.stderr.write(`  a home with ${size.events.toLocaleString('en')} events\n`)
  const env = await homeEnvironment(home)
  await runBroker(env, ['onboard', '--json'])
  await runBroker(env, ['daemon', 'stop'])
  await run({ file: process.execPath, args: [pathOf('./fill-audit.ts'), String(size.events)], env })
  await run({ file: process.execPath, args: [pathOf('./fill-vault.ts'), String(size.connections)], env })
  await runBroker(env, ['daemon', 'start'])
  const client = clientOf(env)
  const { url } = await client.createDashboardLink()
  client.close()
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage()
  await page.goto(url)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  return { page, origin: new URL(url).origin, stop: () => runBroker(env, ['daemon', 'stop']) }
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

/** By what they are for; the last of each kind are those that an index alone answers badly. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  'newest 100 events': ['/api/audit/events?limit=100'],
  '100 events by one filter, the slowest': [
    'event=proxy.request',
    'event=vault.rotated',
    'provider=provider-3',
    'provider=seldom',
    'identity=agent-3',
    'identity=nobody',
    'status=failure',
    `since=${daysAgo(1)}`,
    `until=${daysAgo(29)}`,
  ].map((query) => `/api/audit/events?limit=100&${query}`),
  '100 events by several filters, the slowest': [
    'provider=provider-3&status=denied',
    'provider=seldom&status=denied',
    'event=proxy.request&status=denied',
    'event=provider.login&provider=provider-3',
    'identity=agent-3&provider=provider-3',
    'identity=agent-3&provider=seldom',
    `provider=provider-3&until=${daysAgo(29)}`,
    `provider=provider-5&status=failure&since=${daysAgo(1)}`,
  ].map((query) => `/api/audit/events?limit=100&${query}`),
  'counts of 24 hours': [`/api/audit/counts?since=${daysAgo(1)}&step=1`],
  'counts of 30 days': [`/api/audit/counts?since=${daysAgo(30)}&step=24`],
  'all connections': ['/api/connections'],
}

async function measureQuestions(few: Home, many: Home): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const [name, paths] of Object.entries(QUESTIONS)) {
    const rounds = { few: [] as number[], many: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.few.push(await slowest(few, paths))
      rounds.many.push(await slowest(many, paths))
    }
    findings.push(findingOf(name, rounds, 200))
  }
  return findings
}

/** Milliseconds of the slowest, as the page's own requests take. */
async function slowest({ page }: Home, paths: readonly string[]): Promise<number> {
  const times = await page.evaluate<number[]>(`(async () => {
    const times = []
    for (const path of ${JSON.stringify(paths)}) {
      const started = performance.now()
      await (await fetch(path)).text()
      times.push(performance.now() - started)
    }
    return times
  })()`)
  return Math.max(...times)
}

async function measurePages(few: Home, many: Home): Promise<readonly Finding[]> {
  const acts = [
    ['connections page, from nothing to rows', 1_000, (home: Home) => timeToRows(home, '/connections')],
    ['audit page, from nothing to rows', 1_000, (home: Home) => timeToRows(home, '/audit')],
    ['a letter typed into the filter of connections', 100, typeLetter],
    ['a screen of connections a frame, 95 of 100 frames', 50, scrollThrough],
  ] as const
  const findings: Finding[] = []
  for (const [name, limitMs, act] of acts) {
    const rounds = { few: [] as number[], many: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.few.push(await act(few))
      rounds.many.push(await act(many))
    }
    findings.push(findingOf(name, rounds, limitMs))
  }
  return findings
}

async function timeToRows({ page, origin }: Home, path: string): Promise<number> {
  const started = performance.now()
  await openRows(page, origin + path)
  return performance.now() - started
}

async function openRows(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator('.rows tbody tr:not(.gap)').first().waitFor()
}

/** From the key to the frame that shows what is left. */
async function typeLetter({ page, origin }: Home): Promise<number> {
  await openRows(page, `${origin}/connections`)
  await page.getByLabel('Find').focus()
  await page.evaluate(`void (globalThis.typed = new Promise((done) => {
    document.querySelector('.filters input').addEventListener('input', () => {
      const started = performance.now()
      requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - started)))
    }, { once: true, capture: true })
  }))`)
  await page.keyboard.press('a')
  return page.evaluate<number>('globalThis.typed')
}

/** Milliseconds from one frame to the next while the page is scrolled by a screen with each. */
async function scrollThrough({ page, origin }: Home): Promise<number> {
  await openRows(page, `${origin}/connections`)
  const frames = await page.evaluate<number[]>(`new Promise((done) => {
    const frames = []
    let before = performance.now()
    const step = (now) => {
      frames.push(now - before)
      before = now
      scrollBy(0, innerHeight)
      if (frames.length < 120) requestAnimationFrame(step)
      else done(frames)
    }
    requestAnimationFrame(step)
  })`)
  return percentile(frames, 0.95)
}

function findingOf(name: string, { few, many }: { few: number[]; many: number[] }, limitMs: number): Finding {
  return {
    measure: `dashboard: ${name}`,
    ratio: ratioOf(many, few),
    target: below(limitMs, 'ms', median(many)),
    raw: { 'ms with much': median(many), 'ms with little': median(few) },
  }
}
