import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { acmeHome, bearerDefinition } from './acme-home.ts'
import { BROKER, type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { whyNoIsolation } from './isolation-here.ts'
import { markedSecret } from './search-for-secret.ts'

const ACME = 'api.acme-overrides.example'
const ITEMS = `https://${ACME}/v1/items`
const KEY = markedSecret('ak-')

const ASK = `fetch('${ITEMS}').then(({ status }) => console.log(status), (error) => console.log(String(error.cause ?? error)))`

/** Under the shield a child has no key to start a run by itself, and no say in what its proxy obeys. */
const UNSHIELDED = ['run', '--no-shield', '--']

describe('a run that goes elsewhere than the machine would', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let allowing: BrokerHome
  let forbidding: BrokerHome
  before(async () => {
    ;({ api, world: allowing } = await acmeHome(cleanup, { providers: { acme: ACME }, key: KEY }))
    forbidding = await onboarded(cleanup, { BROKER_OVERRIDES: 'forbid' })
    const file = join(forbidding.folder, 'acme.json')
    writeFileSync(file, JSON.stringify(bearerDefinition('acme', ACME)))
    assert.equal((await forbidding.broker(['provider', 'register', file, '--yes'])).code, 0)
    await logIn(forbidding, 'acme', KEY)
  })

  it('says so once, and has it in the audit log, with where each request went', async () => {
    const { stdout, stderr } = await allowing.broker(['run', '--no-shield', '--', process.execPath, '-e', ASK])

    assert.equal(stdout, '200\n')
    const root = new X509Certificate(api.caPem).fingerprint256.replaceAll(':', '').toLowerCase()
    const address = `${ACME}:443:127.0.0.1:${api.port}`
    assert.equal(stderr.split(`trusts authorities that the system does not (sha256:${root})`).length, 2, stderr)
    assert.equal(stderr.split(`dials other addresses than the hosts' own: ${address}`).length, 2, stderr)
    const [request] = await auditLog(allowing, '-n', '1', '--event', 'proxy.request')
    const [started] = await auditLog(allowing, '-n', '1', '--event', 'run.started')
    assert.deepEqual(started.overrides, { ca: `sha256:${root}`, connect_to: [address] })
    assert.equal(started.isolation, 'none')
    assert.equal(request.request.host, ACME)
    assert.equal(request.dialled, `127.0.0.1:${api.port}`)
    const { stdout: shown } = await allowing.broker(['log', '-n', '10'])
    assert.match(shown, new RegExp(`GET ${ACME}/v1/items 200 \\(at 127\\.0\\.0\\.1:${api.port}\\)`))
    assert.match(shown, /node: with ca, connect_to of its own/)
  })

  it('has none of it in the log where it goes where the machine would', async () => {
    const { code, stderr } = await forbidding.broker(['run', '--no-shield', '--', 'true'])

    assert.equal(code, 0, stderr)
    assert.equal(stderr, '')
    const [started] = await auditLog(forbidding, '-n', '1', '--event', 'run.started')
    assert.deepEqual([started.event, started.isolation, started.overrides], ['run.started', 'none', undefined])
  })

  it('cannot have a child send the key to a server of its own where the owner forbids it', async () => {
    const thief = await startLocalApi([ACME], KEY)
    cleanup.after(() => thief.close())
    const env = await overridesTo(thief)

    for (const override of [env, { ...env, BROKER_PROXY_CA_FILE: '', SSL_CERT_FILE: env.BROKER_PROXY_CA_FILE }]) {
      const { code, stderr } = await forbidding.broker([...UNSHIELDED, process.execPath, '-e', innerRun(override)])

      assert.equal(code, 4, stderr)
      assert.match(
        stderr,
        /The owner of the daemon allows no run that trusts authorities, or dials addresses, of its own/,
      )
      const [denied] = await auditLog(forbidding, '-n', '1', '--event', 'run.started')
      assert.deepEqual([denied.event, denied.status, denied.run_id], ['run.started', 'denied', undefined])
      assert.deepEqual(denied.overrides.connect_to, [env.BROKER_PROXY_CONNECT_TO])
    }
    assert.deepEqual(thief.received, [])
  })

  it('cannot hide it where the owner allows it', async () => {
    const thief = await startLocalApi([ACME], KEY)
    cleanup.after(() => thief.close())

    const env = await overridesTo(thief)
    const { stdout, stderr } = await allowing.broker([...UNSHIELDED, process.execPath, '-e', innerRun(env)])

    assert.equal(stdout, '200\n', stderr)
    assert.equal(thief.received.length, 1)
    const [request] = await auditLog(allowing, '-n', '1', '--event', 'proxy.request')
    const [inner] = await auditLog(allowing, '-n', '1', '--event', 'run.started')
    assert.deepEqual([request.event, request.run_id], ['proxy.request', inner.run_id])
    assert.equal(request.dialled, `127.0.0.1:${thief.port}`)
    assert.deepEqual(inner.overrides.connect_to, [env.BROKER_PROXY_CONNECT_TO])
  })

  it('has no effect where the child sets it under the shield', { skip: whyNoIsolation() }, async () => {
    const thief = await startLocalApi([ACME], KEY)
    cleanup.after(() => thief.close())
    const code = innerRun(await overridesTo(thief))

    const { stdout, stderr } = await allowing.broker(['run', '--', process.execPath, '-e', code])

    assert.equal(stdout, '200\n', stderr)
    assert.deepEqual(thief.received, [])
  })

  for (const [name, value] of [
    ['BROKER_PROXY_CONNECT_TO', `${ACME}:443:127.0.0.1:1`],
    ['SSL_CERT_DIR', 'folder'],
  ] as const) {
    it(`is not started with ${name} alone where the owner forbids it`, async () => {
      const { BROKER_PROXY_CA_FILE: file } = await overridesTo(api)
      const { code } = await forbidding.broker(['run', '--', 'echo', 'the child ran'], {
        env: { [name]: value === 'folder' ? dirname(file) : value },
      })

      assert.equal(code, 4)
    })
  }

  it('is started behind a company’s proxy all the same, which is recorded without its password', async () => {
    const { code, stderr } = await forbidding.broker(['run', '--', 'true'], {
      env: { HTTPS_PROXY: `http://ada:${markedSecret('pw-')}@127.0.0.1:9` },
    })

    assert.equal(code, 0, stderr)
    assert.match(stderr, /goes out through the proxy http:\/\/127\.0\.0\.1:9\n/)
    const [started] = await auditLog(forbidding, '-n', '1', '--event', 'run.started')
    assert.deepEqual(started.overrides, { proxy: 'http://127.0.0.1:9' })
  })

  async function overridesTo({ caPem, port }: LocalApi) {
    const file = join(dirname(temporaryHome(cleanup)), 'roots.pem')
    writeFileSync(file, caPem)
    return { BROKER_PROXY_CA_FILE: file, BROKER_PROXY_CONNECT_TO: `${ACME}:443:127.0.0.1:${port}` }
  }

  /** The code of a child that starts a run of its own. */
  function innerRun(env: Readonly<Record<string, string>>): string {
    const command = JSON.stringify(['run', '--', process.execPath, '-e', ASK])
    return `
      const { status } = require('node:child_process').spawnSync(${JSON.stringify(BROKER)}, ${command}, {
        env: { ...process.env, ...${JSON.stringify(env)} }, stdio: 'inherit' })
      process.exit(status)`
  }

  // biome-ignore lint/suspicious/noExplicitAny: what `log --json` prints.
  async function auditLog(of: BrokerHome, ...args: readonly string[]): Promise<any[]> {
    return JSON.parse((await of.broker(['log', '--json', ...args])).stdout)
  }
})
