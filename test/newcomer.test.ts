import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createCertificateAuthority } from '../src/proxy/index.ts'
import { type BrokerHome, onboarded } from './broker-command.ts'
import { type Cleanup, suiteCleanup, temporaryHome } from './daemon-under-test.ts'

/** What a newcomer has: keys of ten services, carried in nine ways. */
const DOTENV = `# services
OPENAI_API_KEY=sk-proj-CNRYopenai0123456789abcdef
export ANTHROPIC_API_KEY="sk-ant-api03-CNRYanthropic0123456789"   # chat
GITHUB_TOKEN='ghp_CNRYgithub0123456789abcdefghijklmnop'
NOTION_TOKEN=ntn_CNRYnotion0123456789abcdef
DD_API_KEY=CNRYdatadogapi
DD_APP_KEY=CNRYdatadogapp
TELEGRAM_BOT_TOKEN=123456:CNRYtelegram0123456789abcdefghijklm
GEMINI_API_KEY=AIzaCNRYgemini0123456789abcdefghijklmno
GODADDY_API_KEY=godaddykey
GODADDY_API_SECRET=CNRYgodaddysecret
TWILIO_ACCOUNT_SID=AC00000000000000000000000000000000
TWILIO_AUTH_TOKEN=CNRYtwilio0123456789abcdefabcdef
ALCHEMY_API_KEY=CNRYalchemy0123456789
DATABASE_URL=postgres://localhost/app
`

const TABLE = `PROVIDER       VARIABLE            FOUND IN  STATUS
alchemy        ALCHEMY_API_KEY     .env      imported
anthropic      ANTHROPIC_API_KEY   .env      imported
datadog        DD_API_KEY          .env      imported
datadog        DD_APP_KEY          .env      imported
github         GITHUB_TOKEN        .env      imported
godaddy        GODADDY_API_KEY     .env      imported
godaddy        GODADDY_API_SECRET  .env      imported
google-gemini  GEMINI_API_KEY      .env      imported
notion         NOTION_TOKEN        .env      imported
openai         OPENAI_API_KEY      .env      imported
telegram       TELEGRAM_BOT_TOKEN  .env      imported
twilio         TWILIO_ACCOUNT_SID  .env      imported
twilio         TWILIO_AUTH_TOKEN   .env      imported
`

const SID = 'AC00000000000000000000000000000000'

/** What each service has to get, and of the headers those that carry a credential or go with it. */
const EXPECTED: Readonly<Record<string, object>> = {
  'api.openai.com': { url: '/v1/models', authorization: 'Bearer sk-proj-CNRYopenai0123456789abcdef' },
  'api.anthropic.com': {
    url: '/v1/messages',
    'x-api-key': 'sk-ant-api03-CNRYanthropic0123456789',
    'anthropic-version': '2023-06-01',
  },
  'api.github.com': { url: '/user', authorization: 'Bearer ghp_CNRYgithub0123456789abcdefghijklmnop' },
  'api.notion.com': {
    url: '/v1/users/me',
    authorization: 'Bearer ntn_CNRYnotion0123456789abcdef',
    'notion-version': '2022-06-28',
  },
  'api.datadoghq.com': {
    url: '/api/v1/query',
    'dd-api-key': 'CNRYdatadogapi',
    'dd-application-key': 'CNRYdatadogapp',
  },
  'api.telegram.org': { url: '/bot123456:CNRYtelegram0123456789abcdefghijklm/getMe' },
  'generativelanguage.googleapis.com': {
    url: '/v1beta/models',
    'x-goog-api-key': 'AIzaCNRYgemini0123456789abcdefghijklmno',
  },
  'api.godaddy.com': { url: '/v1/domains', authorization: 'sso-key godaddykey:CNRYgodaddysecret' },
  'api.twilio.com': {
    url: `/2010-04-01/Accounts/${SID}/Messages.json`,
    authorization: `Basic ${btoa(`${SID}:CNRYtwilio0123456789abcdefabcdef`)}`,
  },
  'eth-mainnet.g.alchemy.com': { url: '/v2/CNRYalchemy0123456789' },
}

const CARRIERS = [
  'authorization',
  'x-api-key',
  'anthropic-version',
  'notion-version',
  'dd-api-key',
  'dd-application-key',
  'x-goog-api-key',
]

const CHILD = fileURLToPath(new URL('./ten-clients.ts', import.meta.url))

describe('a newcomer with a .env of ten known keys', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  const arrived = new Map<string, object>()
  let world: BrokerHome
  before(async () => {
    const { port, caPem } = await startServices(cleanup, arrived)
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, caPem)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: Object.keys(EXPECTED)
        .map((host) => `${host}:443:127.0.0.1:${port}`)
        .join(),
      BROKER_PROXY_CA_FILE: authority,
    })
    writeFileSync(join(world.folder, '.env'), DOTENV)
  })

  it('types `broker onboard` and sees a table that he understands', async () => {
    const { code, stdout, stderr } = await world.broker(['onboard'])

    assert.equal(code, 0, stderr)
    assert.equal(stdout, TABLE)
    assert.doesNotMatch(stderr, /CNRY|warning/)
    for (const line of `${stdout}${stderr}`.split('\n')) assert.ok(line.length <= 80 || !line.includes('  '), line)
  })

  it('and each of the ten works behind `broker run`, though the program has none of the keys', async () => {
    writeFileSync(join(world.folder, '.env'), '')

    const { code, stdout, stderr } = await world.broker(['run', '--', process.execPath, CHILD])

    assert.equal(code, 0, stderr)
    assert.deepEqual(
      stdout.trim().split('\n'),
      Object.keys(EXPECTED).map((host) => `${host} 200`),
    )
    assert.deepEqual(Object.fromEntries(arrived), EXPECTED)
  })
})

/** The ten services under their own names, on loopback; `arrived` gets what each was sent. */
async function startServices(t: Cleanup, arrived: Map<string, object>) {
  const authority = createCertificateAuthority(Object.keys(EXPECTED), new Date())
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  server.on('request', (request, response) => {
    arrived.set(request.headers.host ?? '', { url: request.url, ...carriers(request) })
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return { port: address.port, caPem: authority.caPem }
}

function carriers({ headers }: IncomingMessage): object {
  return Object.fromEntries(CARRIERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
}
