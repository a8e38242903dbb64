import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { type BrokerHome, type Ended, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'

const PASSPHRASE = 'CNRY words for the copy'
const KEY = `sk-CNRY${'a'.repeat(40)}`
const input = `${PASSPHRASE}\n`
const parsed = ({ stdout }: Ended) => JSON.parse(stdout)

describe('broker backup and broker restore', () => {
  let world: BrokerHome
  let file = ''
  const cleanup = suiteCleanup()
  const connections = async (broker = world.broker) =>
    parsed(await broker(['connections', '--json'])).connections.map((one: { provider: string }) => one.provider)

  before(async () => {
    world = await onboarded(cleanup)
    await logIn(world, 'openai', KEY)
    file = join(world.folder, 'copy.age')
  })

  it('want to know for whom, and say so before anything is written', async () => {
    for (const args of [[], ['--to-passphrase', '--recipient', 'age1x'], ['--recipient', 'nobody']]) {
      const done = await world.broker(['backup', file, ...args, '--json'], { input })
      assert.equal(done.code, 2, done.stdout)
      assert.equal(parsed(done).error, 'InvalidRequestError')
    }
    assert.deepEqual(readdirSync(world.folder), [])
  })

  it('make one file while the daemon runs, which tells nobody anything, and say so in the log', async () => {
    const made = await world.broker(['backup', 'copy.age', '--to-passphrase', '--json'], { input, cwd: world.folder })
    assert.equal(made.code, 0, made.stdout + made.stderr)
    const { events, generation, ...rest } = parsed(made)
    assert.deepEqual(rest, { status: 'ok', file, bytes: statSync(file).size, connections: 1 })
    assert.ok(events > 0 && generation > 0)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.match(readFileSync(file, 'latin1'), /^age-encryption\.org\/v1\n-> scrypt /)
    assert.doesNotMatch(readFileSync(file, 'latin1'), /openai|CNRY/)
    const [event] = parsed(await world.broker(['log', '--json', '--event', 'backup.made']))
    assert.equal(event.identity, '(operator)')
    assert.deepEqual(readdirSync(world.folder), ['copy.age'])
  })

  it('take back what has changed since, only where that is wanted, and leave what it was', async () => {
    await logIn(world, 'anthropic', `sk-ant-api03-CNRY${'a'.repeat(90)}`)
    const asked = await world.broker(['restore', file, '--json'], { input })
    assert.equal(asked.code, 2, asked.stdout + asked.stderr)
    assert.match(asked.stderr, /changes since the backup are taken back/)
    assert.deepEqual(await connections(), ['anthropic', 'openai'])

    const other = await world.broker(['restore', file, '--yes', '--json'], { input: 'CNRY another one\n' })
    assert.equal(other.code, 2)
    assert.match(parsed(other).message, /does not open/)

    const done = await world.broker(['restore', file, '--yes', '--json'], { input })
    assert.equal(done.code, 0, done.stdout + done.stderr)
    assert.equal(parsed(done).connections, 1)
    assert.deepEqual(await connections(), ['openai'])
    const doctor = await world.broker(['doctor'])
    assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr)
    const copies = readdirSync(join(world.home, 'server', 'copies'))
    assert.equal(copies.filter((name) => name.startsWith('before_restore-')).length, 1)
    const [event] = parsed(await world.broker(['log', '--json', '--event', 'backup.restored']))
    assert.match(event.reason, /^from a backup of 20/)
  })

  it('change nothing where the file was cut off or edited', async () => {
    const whole = readFileSync(file)
    const [cut, edited] = [join(world.folder, 'cut'), join(world.folder, 'edited')]
    writeFileSync(cut, whole)
    truncateSync(cut, whole.length - 40)
    whole[whole.length - 20] = (whole.at(-20) ?? 0) ^ 1
    writeFileSync(edited, whole)
    for (const path of [cut, edited, join(world.folder, 'nowhere')]) {
      const done = await world.broker(['restore', path, '--yes', '--json'], { input })
      assert.notEqual(done.code, 0)
      assert.deepEqual(await connections(), ['openai'])
    }
    assert.deepEqual(
      readdirSync(join(world.home, 'server')).filter((name) => name.includes('restored')),
      [],
    )
  })

  it('move a vault to another machine by one file and a passphrase', async () => {
    const elsewhere = temporaryHome(cleanup)
    mkdirSync(elsewhere, { mode: 0o700 })
    const env = { BROKER_HOME: elsewhere, HOME: dirname(elsewhere), BROKER_PORT: '0' }
    const restored = await world.broker(['restore', file, '--json'], { input, env })
    assert.equal(restored.code, 0, restored.stdout + restored.stderr)
    assert.ok(existsSync(join(elsewhere, 'server', 'master.key')))
    assert.equal(
      readFileSync(join(elsewhere, 'server', 'daemon.key'), 'utf8'),
      readFileSync(join(world.home, 'server', 'daemon.key'), 'utf8'),
    )
    const { startDaemon, owner } = await import('./daemon-under-test.ts')
    const daemon = await startDaemon(cleanup, { home: elsewhere, env: { BROKER_ENCRYPTION_MODE: 'auto' } })
    const ada = await owner(daemon, 'elsewhere')
    const { body } = await ada.call('GET', '/api/connections/openai/default?reveal=true')
    assert.equal(body.credential.api_key, KEY)
    assert.equal((await ada.call('GET', '/api/ready')).body.status, 'ready')
    await daemon.stop()
  })

  it('are for an age recipient, and without the key open nothing on a machine that has none', async () => {
    const identity = await generateX25519Identity()
    const path = join(world.folder, 'identity')
    writeFileSync(path, `# created\n${identity}\n`)
    const copy = join(world.folder, 'for-recipient.age')
    const recipient = await identityToRecipient(identity)
    const made = await world.broker(['backup', copy, '--recipient', recipient, '--without-key', '--json'])
    assert.equal(made.code, 0, made.stdout + made.stderr)

    const elsewhere = temporaryHome(cleanup)
    mkdirSync(elsewhere, { mode: 0o700 })
    const env = { BROKER_HOME: elsewhere, HOME: dirname(elsewhere), BROKER_PORT: '0' }
    const refused = await world.broker(['restore', copy, '--identity', path, '--json'], { env })
    assert.equal(refused.code, 5, refused.stdout)
    assert.equal(existsSync(join(elsewhere, 'server', 'broker.db')), false)
    // Where the key is there already, it does.
    rmSync(join(world.folder, 'copy.age'))
    const done = await world.broker(['restore', copy, '--identity', path, '--yes', '--json'])
    assert.equal(done.code, 0, done.stdout + done.stderr)
    assert.deepEqual(await connections(), ['openai'])
  })
})
