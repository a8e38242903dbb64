import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { before, describe, it } from 'node:test'
import { type LocalApi, startLocalApi } from '../demo/local-api.ts'
import { type AskingRun, BROKER, type BrokerHome, logIn, onboarded } from './broker-command.ts'
import { suiteCleanup, temporaryHome } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const ACME = 'api.acme-lifecycle.example'
const OTHER = 'api.other-lifecycle.example'
const STRANGER = 'status.acme-lifecycle.example'
const ITEMS = `https://${ACME}/v1/items`
const KEY = markedSecret('ak-')
const OTHER_KEY = markedSecret('ok-')
const WORK_KEY = markedSecret('wk-')

function definition(name: string, host: string) {
  return {
    schema_version: 1,
    name,
    display_name: name,
    auth_type: 'api_key',
    flow: 'api_key',
    hosts: [host],
    env: { [`${name.toUpperCase()}_API_KEY`]: 'credential' },
    api_key: { header_name: 'Authorization', prefix: 'Bearer' },
  }
}

describe('broker run', { timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  before(async () => {
    api = await startLocalApi([ACME, OTHER, STRANGER], KEY)
    cleanup.after(() => api.close())
    world = await stage()
  })

  /** A home with the providers acme and other connected, whose hosts are the local API. */
  async function stage(): Promise<BrokerHome> {
    const made = await onboarded(cleanup, {
      BROKER_PROXY_CONNECT_TO: [ACME, OTHER, STRANGER].map((host) => `${host}:443:127.0.0.1:${api.port}`).join(),
      BROKER_PROXY_CA_FILE: authorityFile(),
    })
    for (const [name, host, key] of [
      ['acme', ACME, KEY],
      ['other', OTHER, OTHER_KEY],
    ] as const) {
      const file = join(made.folder, `${name}.json`)
      writeFileSync(file, JSON.stringify(definition(name, host)))
      assert.equal((await made.broker(['provider', 'register', file, '--yes'])).code, 0)
      await logIn(made, name, key)
    }
    return made
  }

  function authorityFile(): string {
    const file = join(dirname(temporaryHome(cleanup)), 'authority.pem')
    writeFileSync(file, api.caPem)
    return file
  }

  // biome-ignore lint/suspicious/noExplicitAny: what `log --json` prints.
  async function auditLog(of: BrokerHome, ...args: readonly string[]): Promise<any[]> {
    const { stdout } = await of.broker(['log', '--json', ...args])
    return JSON.parse(stdout)
  }

  /** The event by which the last run has ended, once it is there. */
  async function endOfRun(of: BrokerHome) {
    const [started] = await auditLog(of, '-n', '1', '--event', 'run.started')
    for (;;) {
      const [ended] = await auditLog(of, '-n', '1', '--event', 'run.ended')
      if (ended?.run_id === started.run_id) return ended
    }
  }

  describe('while the connection comes and goes', () => {
    it('refuses the next request after a logout, and goes on after a login without a new child', async () => {
      const run = await world.startAsking()
      assert.equal((await run.get(ITEMS)).status, 200)
      const before = api.received.length

      assert.equal((await world.broker(['logout', 'acme'])).code, 0)
      const refused = await run.get(ITEMS)

      assert.ok(refused.status === 403 || refused.status === 502, JSON.stringify(refused))
      assert.equal(refused.brokerError, refused.body.error)
      assert.match(refused.body.hint, /broker login/)
      assert.equal(api.received.length, before, 'nothing reached the API')

      await logIn(world, 'acme', KEY)
      assert.deepEqual(await run.get(ITEMS), {
        status: 200,
        brokerError: null,
        body: { models: ['acme-large', 'acme-small'] },
      })
      assert.equal((await run.end()).code, 0)
    })

    it('uses a replaced key from the next request on', async () => {
      const run = await world.startAsking()
      await logIn(world, 'acme', WORK_KEY, ['--force'])
      assert.equal((await run.get(ITEMS)).status, 401)
      assert.equal(api.received.at(-1)?.headers['authorization'], `Bearer ${WORK_KEY}`)

      await logIn(world, 'acme', KEY, ['--force'])
      assert.equal((await run.get(ITEMS)).status, 200)
      await run.end()
    })

    it('tells in the audit log what was refused, and why', async () => {
      const [denied] = await auditLog(world, '--event', 'proxy.denied', '-n', '1')

      assert.equal(denied.status, 'denied')
      assert.equal(denied.request.host, ACME)
      assert.equal(denied.reason, 'connection_not_found')
    })
  })

  describe('when the daemon goes away', () => {
    it('fails fast and says what to do, leaves other hosts alone, and comes back with every event once', async () => {
      const own = await stage()
      const run = await own.startAsking()
      assert.equal((await run.get(`${ITEMS}/before`)).status, 200)
      await own.daemon.stop('SIGKILL')
      const received = api.received.length

      const started = performance.now()
      const refused = await run.get(`${ITEMS}/meanwhile`)

      assert.ok(performance.now() - started < 5_000)
      assert.equal(refused.status, 502)
      assert.equal(refused.brokerError, 'DaemonUnavailableError')
      assert.match(refused.body.hint, /broker daemon start/)
      assert.equal(api.received.length, received, 'no request went on bare')
      assert.equal((await run.get(`https://${STRANGER}/`)).failure !== undefined, true, 'its own certificate is shown')
      assert.equal((await run.connect(`${STRANGER}:443`)).status, 200)

      await own.restart(cleanup)
      assert.equal((await run.get(`${ITEMS}/after`)).status, 200)
      assert.equal((await run.end()).code, 0)

      const events = (await auditLog(own, '-n', '100')).filter(({ event }) => event.startsWith('proxy.'))
      const paths = events.map(({ event, request }) => `${event} ${request.path}`).toReversed()
      assert.deepEqual(paths, [
        'proxy.request /v1/items/before',
        'proxy.denied /v1/items/meanwhile',
        'proxy.request /v1/items/after',
      ])
      assert.equal(new Set(events.map(({ id }) => id)).size, events.length)
    })

    it('still gives the exit code of the child where the daemon does not come back', async () => {
      const own = await stage()
      const run = await own.startAsking()
      await own.daemon.stop('SIGKILL')

      const { code, stderr } = await run.end()

      assert.equal(code, 0)
      assert.match(stderr, /could not be told/)
    })
  })

  it('has the events of the child in the audit log once it has ended', async () => {
    const run = await world.startAsking()
    await run.get(`${ITEMS}?api_key=ak-CNRYmisplaced`)
    await run.end()

    const events = await auditLog(world, '-n', '4')

    assert.deepEqual(
      events.map(({ event }) => event),
      ['run.ended', 'proxy.request', 'credential.released', 'run.started'],
    )
    assert.equal(new Set(events.map(({ run_id }) => run_id)).size, 1)
    const [, asked] = events
    assert.deepEqual(
      [asked.request.method, asked.request.host, asked.request.path, asked.request.status],
      ['GET', ACME, '/v1/items', 200],
    )
  })

  describe('exit codes and signals', { concurrency: 4 }, () => {
    before(() => writeFileSync(join(world.folder, 'notes.txt'), '', { mode: 0o600 }))

    for (const [command, code] of [
      [['sh', '-c', 'exit 0'], 0],
      [['sh', '-c', 'exit 7'], 7],
      [['sh', '-c', 'exit 255'], 255],
      [['sh', '-c', 'kill -9 $$'], 137],
      [['no-such-command-anywhere'], 127],
      [['/'], 126],
      [['./notes.txt'], 126],
    ] as const) {
      it(`gives ${code} for ${command.join(' ')}`, async () => {
        assert.equal((await world.broker(['run', '--', ...command])).code, code)
      })
    }

    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const) {
      it(`passes ${signal} on to the child and gives ${code}`, async () => {
        const run = await world.startAsking()

        run.process.kill(signal)

        assert.equal((await run.ended).code, code)
        assert.throws(() => process.kill(run.child.pid, 0), { code: 'ESRCH' })
      })
    }

    it('lets a child that handles the signal choose its own exit code', async () => {
      const script = `process.on('SIGTERM', () => process.exit(9)); console.log('ready'); setInterval(() => {}, 1000)`
      const running = world.start(['run', '--', process.execPath, '-e', script])
      assert.ok(running.process.stdout)
      await once(running.process.stdout, 'data')

      running.process.kill('SIGTERM')

      assert.equal((await running.ended).code, 9)
    })
  })

  it('starts no daemon for a home without an agent', async () => {
    const home = temporaryHome(cleanup)
    const { code, stderr } = await world.broker(['run', '--', 'true'], { env: { BROKER_HOME: home, BROKER_PORT: '0' } })

    assert.equal(code, 2)
    assert.match(stderr, /no active agent/)
    assert.equal(existsSync(join(home, 'server')), false)
  })

  it('says which folder it cannot use for temporary files', async () => {
    const { code, stderr } = await world.broker(['run', '--', 'true'], { env: { TMPDIR: join(world.folder, 'gone') } })

    assert.equal(code, 4)
    assert.match(stderr, /Cannot make a folder in ".*gone"[\s\S]*TMPDIR/)
    const [last] = await auditLog(world, '-n', '1')
    assert.deepEqual([last.event, last.status], ['run.ended', 'failure'])
  })

  it('leaves the command every descriptor that it was started with, under its number', async () => {
    const notes = join(world.folder, 'descriptors.txt')
    writeFileSync(notes, 'from a file\n')
    const script = `exec 3< ${notes} 63< ${notes} 9>&1; ${BROKER} run -- sh -c 'cat <&3; cat /dev/fd/63; echo nine >&9; ls /proc/self/fd | wc -l'`
    const plain = await output('bash', ['-c', script.replace(`${BROKER} run -- `, '')], world.env)

    const { status, stdout } = await output('bash', ['-c', script], world.env)

    assert.equal(status, 0)
    assert.equal(stdout, plain.stdout)
    assert.match(stdout, /^from a file\nfrom a file\nnine\n/)
  })

  describe('options', () => {
    it('--only leaves every other provider uninjected and unintercepted', async () => {
      const run = await world.startAsking(['--only', 'other'])

      assert.equal((await run.get(`https://${OTHER}/`)).status, 401)
      assert.equal(api.received.at(-1)?.headers['authorization'], `Bearer ${OTHER_KEY}`)
      assert.match((await run.get(ITEMS)).failure ?? '', /certificate/)
      assert.equal(run.child.env['ACME_API_KEY'], undefined)
      await run.end()
    })

    it('--connection takes another than the default', async () => {
      await logIn(world, 'acme', WORK_KEY, ['--connection', 'work'])
      const run = await world.startAsking(['--connection', 'acme=work'])

      await run.get(ITEMS)

      assert.equal(api.received.at(-1)?.headers['authorization'], `Bearer ${WORK_KEY}`)
      await run.end()
      const [event] = await auditLog(world, '--event', 'proxy.request', '-n', '1')
      assert.equal(event.connection, 'work')
    })

    for (const args of [
      ['--connection', 'acme=nobody'],
      ['--connection', 'nobody=default'],
      ['--only', 'nobody'],
    ]) {
      it(`${args.join(' ')} names what is not there: the child never runs`, async () => {
        const { code, stdout } = await world.broker(['run', ...args, '--', 'echo', 'the child ran'])

        assert.ok(code === 3 || code === 4, `${code}`)
        assert.equal(stdout, '')
      })
    }

    it('--strict refuses every host that no connected provider matches', async () => {
      const run = await world.startAsking(['--strict'])

      assert.equal((await run.get(ITEMS)).status, 200)
      const before = api.received.length
      const refused = await run.connect(`${STRANGER}:443`)

      assert.equal(refused.status, 403)
      assert.equal(refused.brokerError, 'OperationNotAllowedError')
      assert.equal(api.received.length, before)
      await run.end()
    })
  })

  describe('walls', () => {
    it('keeps the proxy for what the command left behind, and ends the run with the last of it', async () => {
      const heir = join(world.folder, 'heir.cjs')
      const outcome = join(world.folder, 'outcome.json')
      writeFileSync(heir, HEIR)
      const begin = `require('child_process').spawn(process.execPath, [${JSON.stringify(heir)}, '${ITEMS}', '${outcome}'], { detached: true, stdio: 'ignore' }).unref()`
      const appeared = fileIn(world.folder, 'outcome.json')

      const { code, stderr } = await world.broker(['run', '--', process.execPath, '-e', begin])

      assert.equal(code, 0)
      assert.match(stderr, /left node \(pid \d+\) running; the proxy stays until they end/)
      const [started] = await auditLog(world, '-n', '1')
      assert.equal(started.event, 'run.started')
      writeFileSync(`${heir}.go`, '')
      await appeared
      assert.equal(readFileSync(outcome, 'utf8'), 'answered 200')
      await untilNoRunFolder(world)
      const [ended, asked] = await auditLog(world, '-n', '2')
      assert.deepEqual([asked.event, ended.event, ended.status], ['proxy.request', 'run.ended', 'success'])
      assert.equal(ended.run_id, started.run_id)
    })

    it('takes the child along when it is killed itself, and says that it was lost', async () => {
      const heir = join(world.folder, 'taken.cjs')
      const asked = `process.on('SIGTERM', () => process.exit(require('node:fs').writeFileSync(__filename + '.asked', '')))`
      writeFileSync(heir, `${asked}\n${HEIR}`)
      const run = world.start(['run', '--', process.execPath, heir, ITEMS, join(world.folder, 'never.json')])
      await fileIn(world.folder, 'taken.cjs.ready')

      const appeared = fileIn(world.folder, 'taken.cjs.asked')
      run.process.kill('SIGKILL')
      await appeared

      await run.ended
      await untilNoRunFolder(world)
      const ended = await endOfRun(world)
      assert.deepEqual([ended.status, ended.reason], ['failure', 'lost'])
    })

    it('leaves a child that will not end without access when it is killed itself', async () => {
      const heir = join(world.folder, 'orphan.cjs')
      const outcome = join(world.folder, 'orphaned.json')
      writeFileSync(heir, `process.on('SIGTERM', () => {})\n${HEIR}`)
      const run = world.start(['run', '--', process.execPath, heir, ITEMS, outcome])
      await fileIn(world.folder, 'orphan.cjs.ready')
      const before = api.received.length
      run.process.kill('SIGKILL')
      await untilNoRunFolder(world)

      const appeared = fileIn(world.folder, 'orphaned.json')
      writeFileSync(`${heir}.go`, '')
      await appeared

      assert.match(readFileSync(outcome, 'utf8'), /ECONNREFUSED/)
      assert.equal(api.received.length, before)
      await run.ended
    })

    it('leaves no folder behind after a SIGKILL of its proxy once another run has started', async () => {
      const run = await world.startAsking()
      process.kill(proxyPid(world), 'SIGKILL')

      assert.match((await run.end()).stderr, /proxy of this run ended before the command/)
      assert.equal(runFolders(world).length, 1)
      assert.equal((await auditLog(world, '-n', '1'))[0].event, 'run.ended')

      assert.equal((await world.broker(['run', '--', 'true'])).code, 0)
      assert.deepEqual(runFolders(world), [])
    })

    it('says at once that its proxy was killed, and nothing of the child goes out bare', async () => {
      const run = await world.startAsking()
      const [told] = run.process.stderr ? [once(run.process.stderr, 'data')] : []
      assert.equal((await run.get(ITEMS)).status, 200)
      const before = api.received.length
      process.kill(proxyPid(world), 'SIGKILL')

      assert.match(String(await told), /proxy of this run ended before the command, which goes on/)
      const ended = await endOfRun(world)
      assert.deepEqual([ended.status, ended.reason], ['failure', 'lost'], 'while the command goes on')
      for (const url of [ITEMS, `https://${STRANGER}/`])
        assert.match(String((await run.get(url)).failure), /ECONNREFUSED/)
      assert.match(String((await run.connect(`${ACME}:443`)).failure), /ECONNREFUSED/)

      const { code, stderr } = await run.end()
      assert.equal(code, 0)
      assert.equal(stderr.match(/proxy of this run ended/g)?.length, 1)
      assert.equal(api.received.length, before)
    })

    it('says that its proxy has ended where that was told to', async () => {
      const run = await world.startAsking()
      const pid = proxyPid(world)
      process.kill(pid, 'SIGTERM')
      await untilNoRunFolder(world)

      const { code, stderr } = await run.end()

      assert.equal(code, 0)
      assert.match(stderr, /proxy of this run ended before the command/)
      assert.doesNotMatch(stderr, /the proxy stays/)
    })

    it('goes on without its debug log and its notices where the disk is full', async () => {
      const log = join(world.folder, 'full.log')
      const fill = 'ulimit -f 1000; head -c 2000000 /dev/zero >"$1" 2>/dev/null'
      const run = 'exec "$0" --log-file "$1" run --only acme --strict -- "$2" -e "$3" 2>/dev/full'
      // Of the first request the proxy would write a line.
      const ask = `fetch('https://${STRANGER}/').catch(() => fetch('${ITEMS}')).then(({ status }) => process.exit(status === 200 ? 7 : 1))`
      const env = { ...world.env, NO_PROXY: ACME }

      const { status } = await output('sh', ['-c', `${fill}; ${run}`, BROKER, log, process.execPath, ask], env)

      assert.equal(status, 7)
      assert.doesNotMatch(readFileSync(log, 'latin1'), /event/)
    })

    it('serves no credentials but those of its own child', async () => {
      const [mine, theirs] = await Promise.all([world.startAsking(), world.startAsking()])
      const url = new URL(String(theirs.child.env['HTTPS_PROXY']))
      assert.notEqual(url.password, new URL(String(mine.child.env['HTTPS_PROXY'])).password)

      const refused = await mine.connect(`${ACME}:443`, `${url.username}:${url.password}`)

      assert.equal(refused.status, 407)
      assert.equal(refused.brokerError, 'AuthenticationFailedError')
      assert.equal((await mine.connect(`${ACME}:443`)).status, 200)
      await Promise.all([mine.end(), theirs.end()])
    })

    it('does not lead to the daemon', async () => {
      const run = await world.startAsking()
      const { port } = world.daemon

      for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.1', '0.0.0.0', '[::ffff:127.0.0.1]']) {
        const refused = await run.connect(`${host}:${port}`)
        assert.ok([400, 403].includes(refused.status ?? 0), `${host}: ${JSON.stringify(refused)}`)
        assert.ok(refused.brokerError, host)
      }
      assert.equal((await run.connect(`127.0.0.1:${port}`)).status, 403)
      await run.end()
    })

    it('keeps what is for Broker alone from the child', async () => {
      const run: AskingRun = await world.startAsking([], {
        env: { BROKER_MASTER_KEY: markedSecret(), BROKER_DATABASE_URL: '', ACME_API_KEY: KEY, UNRELATED: 'kept' },
      })
      const { env } = run.child

      assert.deepEqual(
        Object.keys(env).filter((name) => name.startsWith('BROKER_')),
        ['BROKER_RUN_SOCKET'],
      )
      assert.doesNotMatch(JSON.stringify(env), /CNRY/)
      assert.equal(env['ACME_API_KEY'], 'broker-proxy-managed')
      assert.equal(env['UNRELATED'], 'kept')
      await run.end()
    })

    it('leaves nothing in the temporary folder', () => {
      assert.deepEqual(runFolders(world), [])
    })
  })
})

/** Waits until it is told that the run is over, then asks as the run's child would. */
const HEIR = `
const fs = require('node:fs')
const [, self, url, outcome] = process.argv
const ask = () => fetch(url).then((answer) => 'answered ' + answer.status, (error) => String(error.cause ?? error))
const attempt = () => ask().then((text) => fs.renameSync((fs.writeFileSync(outcome + '.part', text), outcome + '.part'), outcome))
fs.writeFileSync(self + '.ready', '')
const timer = setInterval(() => {
  if (!fs.existsSync(self + '.go')) return
  clearInterval(timer)
  void attempt()
}, 20)
setTimeout(() => process.exit(1), 20_000).unref()
`

function runFolders({ temporary }: BrokerHome): readonly string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('broker-run-'))
}

async function output(file: string, args: readonly string[], env: BrokerHome['env']) {
  const child = spawn(file, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  let stdout = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  const [status] = await once(child, 'close')
  return { status, stdout }
}

/** The process of the only run's proxy. */
function proxyPid(world: BrokerHome): number {
  const [folder = ''] = runFolders(world)
  return Number(/^broker-run-(\d+)-/.exec(folder)?.[1])
}

async function untilNoRunFolder(world: BrokerHome): Promise<void> {
  const changes = watch(world.temporary)
  try {
    for (;;) {
      const changed = once(changes, 'change')
      if (runFolders(world).length === 0) return
      await changed
    }
  } finally {
    changes.close()
  }
}

async function fileIn(folder: string, name: string): Promise<void> {
  const changes = watch(folder)
  try {
    for (;;) {
      const [, changed] = await once(changes, 'change')
      if (changed === name) return
    }
  } finally {
    changes.close()
  }
}
