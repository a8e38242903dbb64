import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LocalApi } from '../demo/local-api.ts'
import { whyNot } from '../tools/available.ts'
import { acmeHome } from './acme-home.ts'
import type { BrokerHome } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const HOST = 'www.acme-browser.example'
const STRANGER = 'www.stranger-browser.example'
const KEY = markedSecret('ak-')
const BROWSING_CHILD = fileURLToPath(new URL('./browsing-child.ts', import.meta.url))
const QUIET = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync']

describe('a browser behind broker run', { timeout: 240_000, skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  before(async () => {
    ;({ api, world } = await acmeHome(cleanup, { providers: { acme: HOST }, strangers: [STRANGER], key: KEY }))
  })

  it('loads a page that wants the key, with a profile of its own', async () => {
    const { code, stdout } = await world.broker([
      'run',
      '--',
      'chromium',
      ...QUIET,
      '--dump-dom',
      `https://${HOST}/v1/items`,
    ])

    assert.equal(code, 0)
    assert.match(stdout, /acme-large/)
    assert.equal(api.received.at(-1)?.headers['authorization'], `Bearer ${KEY}`)
  })

  it('trusts the run’s authority for its hosts alone', async () => {
    const { stdout } = await world.broker(['run', '--', 'chromium', ...QUIET, '--dump-dom', `https://${STRANGER}/`])

    assert.doesNotMatch(stdout, /no valid key/, 'a certificate that nobody knows is not taken')
  })

  it('is found by programs that start one, with --browser', async () => {
    const child = [process.execPath, BROWSING_CHILD, `https://${HOST}/v1/items`, ...QUIET]

    const { code, stdout, stderr } = await world.broker(['run', '--browser', '--', ...child])

    assert.equal(code, 0, stderr)
    assert.match(stdout, /acme-large/)
  })
})
