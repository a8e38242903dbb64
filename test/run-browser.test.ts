import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { whyNot } from '../tools/available.ts'
import { type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const HOST = 'www.acme-browser.example'
const STRANGER = 'www.stranger-browser.example'
const KEY = markedSecret('ak-')
const BROWSING_CHILD = fileURLToPath(new URL('./browsing-child.ts', import.meta.url))
const QUIET = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync']

describe('a browser behind broker run', { timeout: 120_000, skip: whyNot('chromium') }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  before(async () => {
    api = await startLocalApi([HOST, STRANGER], KEY)
    cleanup.after(() => api.close())
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, api.caPem)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: [HOST, STRANGER].map((host) => `${host}:443:127.0.0.1:${api.port}`).join(),
      BROKER_PROXY_CA_FILE: authority,
    })
    const file = join(world.folder, 'acme.json')
    writeFileSync(file, JSON.stringify(DEFINITION))
    assert.equal((await world.broker(['provider', 'register', file, '--yes'])).code, 0)
    await logIn(world, 'acme', KEY)
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

const DEFINITION = {
  schema_version: 1,
  name: 'acme',
  display_name: 'Acme',
  auth_type: 'api_key',
  flow: 'api_key',
  hosts: [HOST],
  api_key: { header_name: 'Authorization', prefix: 'Bearer' },
}
