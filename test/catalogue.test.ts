import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { whyNot } from '../tools/available.ts'
import { bearerDefinition } from './acme-home.ts'
import { BROKER, type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { atOwnTerminal } from './own-terminal.ts'
import { signer } from './signed-catalogue.ts'

const TOOL = join(import.meta.dirname, '../tools/sign-catalogue.ts')

/** A company publishes definitions of its own, signed by its own key, and its people use them between releases. */
describe('a signed catalogue', () => {
  let world: BrokerHome
  const ours = signer()
  const cleanups: (() => unknown)[] = []
  const cleanup = { after: (work: () => unknown) => void cleanups.unshift(work) }
  before(async () => {
    world = await onboarded(cleanup)
    writeFileSync(join(world.folder, 'private.pem'), ours.privatePem, { mode: 0o600 })
    writeFileSync(join(world.folder, 'public.pem'), ours.pem)
  })
  after(async () => {
    for (const work of cleanups) await work()
  })

  let folders = 0
  /** As whoever publishes it makes it. */
  function publish(version: string, definitions: readonly object[], args: readonly string[] = []): string {
    folders += 1
    const from = join(world.folder, `from-${folders}`)
    mkdirSync(from)
    for (const [index, one] of definitions.entries()) writeFileSync(join(from, `${index}.json`), JSON.stringify(one))
    const out = join(world.folder, `catalogue-${folders}.json`)
    const key = join(world.folder, 'private.pem')
    execFileSync(process.execPath, [TOOL, '--key', key, '--version', version, '--from', from, '--out', out, ...args], {
      stdio: 'pipe',
    })
    return out
  }

  const update = (...args: readonly string[]) => world.broker(['provider', 'update', ...args])
  const intranet = (host = 'api.intranet.example', more: object = {}) => ({
    ...bearerDefinition('intranet', host),
    ...more,
  })

  it('shows what would change, changes nothing unasked, and serves it then', async () => {
    const file = publish('2026-11-23.1', [intranet()], ['--removed', 'zenrows'])
    const untrusted = await update(file, '--yes')
    assert.equal(untrusted.code, 4)
    assert.match(untrusted.stderr, /signed by a key that is not trusted here: [\w-]{22}\n.*--key <public\.pem>/s)

    const looked = await update(file, '--key', 'public.pem', '--check')
    assert.equal(looked.code, 0, looked.stderr)
    assert.match(looked.stderr, new RegExp(`signed by your key ${ours.id}`))
    assert.match(looked.stderr, / new {6}intranet: api\.intranet\.example\n {2}removed {2}zenrows\n/)
    assert.equal((await update(file, '--key', 'public.pem')).code, 2, 'a pipe cannot be asked')
    assert.equal((await world.broker(['provider', 'inspect', 'intranet'])).code, 4)

    const done = await update(file, '--key', 'public.pem', '--yes', '--json')
    assert.equal(done.code, 0, done.stderr)
    const { status, catalogue, difference } = JSON.parse(done.stdout)
    assert.deepEqual(
      [status, catalogue.version, catalogue.publisher, catalogue.keys],
      ['ok', '2026-11-23.1', 'operator', [ours.id]],
    )
    assert.deepEqual(difference.removed, ['zenrows'])
    const { bundled, custom } = JSON.parse((await world.broker(['provider', 'list', '--json'])).stdout)
    assert.ok(bundled.some(({ name }: { name: string }) => name === 'intranet'))
    assert.deepEqual(custom, [])
    assert.match((await world.broker(['provider', 'list'])).stderr, /; catalogue 2026-11-23\.1 of yours before 2026-/)
    assert.match((await world.broker(['doctor'])).stderr, /catalogue 2026-11-23\.1 of yours before/)
    assert.match((await update(file)).stderr, /is in use already/)
    assert.equal(statSync(join(world.home, 'server/catalogue.json')).mode & 0o777, 0o600)
    const [event] = JSON.parse((await world.broker(['log', '--event', 'catalogue.updated', '--json'])).stdout)
    assert.equal(event.reason, `2026-11-23.1, signed by ${ours.id}`)
  })

  it('puts connections to rest whose credentials would go elsewhere, as an upgrade does', async () => {
    await logIn(world, 'intranet', 'CNRYkeyofintranet')
    const moved = publish('2026-11-23.2', [intranet('api.elsewhere.example')])
    const looked = await update(moved, '--check')
    assert.match(
      looked.stderr,
      /Credentials of intranet would go elsewhere.*\n {2}\+ api\.elsewhere\.example\n {2}- api\.intranet\.example/,
    )
    const done = await update(moved, '--yes')
    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stderr, /Connection "default" of intranet will not serve.*connections approve intranet/)

    const status = async () => JSON.parse((await world.broker(['connections', '--json'])).stdout).connections[0].status
    assert.equal(await status(), 'needs_approval')
    assert.equal((await update(publish('2026-11-23.3', [intranet()]), '--yes')).code, 0)
    assert.equal(await status(), 'connected', 'where it went before')
  })

  it('takes no file that was changed, is older, has expired, or is of no use', async () => {
    const now = () => world.broker(['provider', 'update', '--json'])
    const before = (await now()).stdout
    const good = publish('2026-11-23.4', [intranet('api.new.example')])
    const { payload, ...rest } = JSON.parse(readFileSync(good, 'utf8'))
    const forged = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('api.new.', 'api.bad.')).toString(
      'base64url',
    )
    const put = (name: string, content: string) => {
      writeFileSync(join(world.folder, name), content)
      return name
    }
    for (const [args, code, said] of [
      [[put('forged.json', JSON.stringify({ ...rest, payload: forged }))], 4, /it was changed after it was signed/],
      [[publish('2026-11-23.2', [])], 4, /it is older than 2026-11-23\.3/],
      [[publish('2026-11-23.3', [])], 4, /another of the same version/],
      [[publish('2026-11-23.9', [], ['--expires', '2099-01-01']), '--reset'], 2, /not both/],
      [[put('plain.json', '{}')], 2, /not a catalogue file/],
      [['nosuch.json'], 2, /Cannot read the file/],
      [[good, '--key', 'private.pem'], 2, /has a private key; nothing was sent/],
      [[good, '--key', 'plain.json'], 2, /no public Ed25519 key/],
    ] as const) {
      const { code: ended, stderr } = await update(...args, '--yes')
      assert.equal(ended, code, stderr)
      assert.match(stderr, said)
    }
    assert.throws(() => publish('2026-11-23.5', [intranet('*.com')]), 'it is not even signed')
    assert.equal((await now()).stdout, before)
  })

  it('is taken from standard input, and asked about at a terminal', { skip: whyNot('python3') }, async (t) => {
    const file = publish('2026-11-23.6', [intranet(undefined, { display_name: 'Intranet' })])
    const place = { cwd: world.folder, env: world.env }
    const no = await atOwnTerminal(t, [BROKER, 'provider', 'update', file], place)
    await no.sees(/Use the catalogue 2026-11-23\.6\?/)
    no.type('n\r')
    assert.equal((await no.ended).code, 2)
    const piped = await world.broker(['provider', 'update', '-', '--yes'], { input: readFileSync(file, 'utf8') })
    assert.equal(piped.code, 0, piped.stderr)
  })

  it('is there after a restart, behind definitions of your own, and gone after a reset', async (t) => {
    writeFileSync(join(world.folder, 'own.json'), JSON.stringify(intranet(undefined, { display_name: 'Own' })))
    assert.equal((await world.broker(['provider', 'register', 'own.json', '--force'])).code, 0)
    await world.daemon.stop()
    await world.restart(t)
    const shown = async () => JSON.parse((await world.broker(['provider', 'inspect', 'intranet'])).stdout).definition
    assert.deepEqual([(await shown()).display_name, (await shown()).source], ['Own', 'custom'])
    const over = await update(publish('2026-11-23.7', [intranet('api.third.example')]), '--yes')
    assert.match(over.stderr, /Your own definitions stay in use: intranet/)
    assert.equal((await shown()).display_name, 'Own')
    assert.equal((await world.broker(['provider', 'inspect', 'zenrows'])).code, 0)
    assert.equal((await world.broker(['provider', 'remove', 'intranet', '--yes'])).code, 0)
    assert.deepEqual([(await shown()).hosts, (await shown()).source], [['api.third.example'], 'bundled'])

    assert.equal((await update('--reset')).code, 2)
    assert.equal((await update('--reset', '--yes')).code, 0)
    assert.equal((await world.broker(['provider', 'inspect', 'intranet'])).code, 4)
    assert.deepEqual(JSON.parse((await update('--json')).stdout).installed, [])
    const [event] = JSON.parse((await world.broker(['log', '--event', 'catalogue.reset', '--json'])).stdout)
    assert.equal(event.status, 'success')
    assert.equal(
      (await update(publish('2026-11-23.6', []), '--key', 'public.pem', '--yes')).code,
      4,
      'older than one seen',
    )
  })
})
