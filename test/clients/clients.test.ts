import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { suiteCleanup } from '../daemon-under-test.ts'
import { clients, titleOf } from './clients.ts'
import { install } from './install.ts'
import { runClient } from './run-client.ts'
import { makeWorld, type World } from './world.ts'

/** Those that matter most; `npm run test:clients` runs all. */
const TITLES = new Set([
  'curl',
  'wget',
  'git',
  'urllib (Python)',
  'requests (Python)',
  'openai (Python)',
  'Java, HttpURLConnection',
  'Java, HttpClient',
  'fetch (Node 20)',
  'fetch (Node 26)',
  'https, own agent (Node 22)',
  'axios (Node 20)',
  'undici, own agent (Node 26)',
  'ws (Node 22)',
  'openai 4 (Node 20)',
  'openai 6 (Node 26)',
  'anthropic (Node 22)',
  'stripe (Node 22)',
  'aws-sdk (Node 26)',
  'MCP entry `broker run -- npx` (Node 26)',
])

describe('behind broker run, with nothing set by hand', { concurrency: 2, timeout: 600_000 }, () => {
  const cleanup = suiteCleanup()
  let world: World
  before(async () => {
    world = await makeWorld(cleanup)
  })

  for (const client of clients.filter((one) => TITLES.has(titleOf(one))))
    it(`${titleOf(client)} is let in by the real key, and never sees it`, async (t) => {
      const installed = await install(client).catch((error: Error) => error)
      if (installed instanceof Error) return t.skip(installed.message.split('\n', 1)[0])
      const { problem, streamed, keySeen, output } = await runClient(world, client, installed)
      const expected = { problem: undefined, streamed: client.streams || undefined, keySeen: [] }
      assert.deepEqual({ problem, streamed, keySeen }, expected, output)
    })

  it('are all of them known', () => {
    assert.deepEqual(
      [...TITLES].filter((title) => !clients.some((client) => titleOf(client) === title)),
      [],
    )
  })
})
