import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { bearerDefinition } from './acme-home.ts'
import { type AskingRun, type BrokerHome, type ChildAnswer, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'

const BUNDLED = 'api.openai.com'
const OWN = 'api.acme-follows.example'
const LATER = 'api.later-follows.example'
const KEY = `sk-CNRY${'a'.repeat(40)}`

describe('a provider that is connected during a run', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  let run: AskingRun
  before(async () => {
    const hosts = [BUNDLED, OWN, LATER]
    api = await startLocalApi(hosts, KEY)
    cleanup.after(() => api.close())
    const authority = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(authority, api.caPem)
    world = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: hosts.map((host) => `${host}:443:127.0.0.1:${api.port}`).join(),
      BROKER_PROXY_CA_FILE: authority,
    })
    await register('acme', OWN)
    run = await world.startAsking()
  })

  for (const [provider, host] of [
    ['openai', BUNDLED],
    ['acme', OWN],
  ] as const) {
    it(`is routed in it, by the definition of ${provider}, and no more after the logout`, async () => {
      const url = `https://${host}/v1/models`
      assert.match((await run.get(url)).failure ?? '', /certificate/, 'the host shows its own')

      await logIn(world, provider, KEY)
      const answer = await answerOf(
        () => run.get(url),
        ({ failure }) => failure === undefined,
      )

      assert.equal(answer.status, 200)
      assert.equal(api.received.at(-1)?.headers['authorization'], `Bearer ${KEY}`)
      const received = api.received.length
      assert.equal((await world.broker(['logout', provider])).code, 0)
      assert.equal((await run.get(url)).status, 403)
      assert.equal(api.received.length, received)
    })
  }

  it('is said to need a new run where no definition had its host when this one began', async () => {
    await register('later', LATER)
    await logIn(world, 'later', KEY)
    const refused = await answerOf(
      () => run.connect(`${LATER}:443`),
      ({ status }) => status !== 200,
    )

    assert.equal(refused.status, 403)
    assert.equal(refused.brokerError, 'OperationNotAllowedError')
    assert.match(refused.body.message, /connected after this run began/)
    assert.match(refused.body.hint, /Start the command again/)

    const next = await world.startAsking()
    assert.equal((await next.get(`https://${LATER}/`)).status, 200)
    await next.end()
  })

  it('has an authority that is for the hosts of this home’s definitions alone, and those that it may use', async () => {
    const narrow = await world.startAsking(['--only', 'openai'])
    const names = (of: AskingRun) => {
      const pem = readFileSync(of.child.env['NODE_EXTRA_CA_CERTS'] ?? '', 'latin1')
      return [BUNDLED, OWN, LATER, 'openai.com', 'com'].filter((name) => hasName(pem, name))
    }
    const found = [names(run), names(narrow)]
    await narrow.end()

    assert.deepEqual(found, [[BUNDLED, OWN], [BUNDLED]])
  })

  async function register(name: string, host: string): Promise<void> {
    const file = join(world.folder, `${name}.json`)
    writeFileSync(file, JSON.stringify(bearerDefinition(name, host)))
    assert.equal((await world.broker(['provider', 'register', file, '--yes'])).code, 0)
  }

  /** The proxy hears of a change by asking: the first answer by which it has. */
  async function answerOf(ask: () => Promise<ChildAnswer>, isIt: (answer: ChildAnswer) => boolean) {
    for (;;) {
      const answer = await ask()
      if (isIt(answer)) return answer
      await delay(100)
    }
  }
})

/** Whether a certificate's name constraints have this very name: a context-specific [2] with its length. */
function hasName(pem: string, name: string): boolean {
  return new X509Certificate(pem).raw.includes(Buffer.concat([Buffer.from([0x82, name.length]), Buffer.from(name)]))
}
