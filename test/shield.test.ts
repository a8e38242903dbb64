import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { acmeHome } from './acme-home.ts'
import { BROKER, type BrokerHome } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { whyNoIsolation } from './isolation-here.ts'
import { pathWith } from './path-with.ts'
import { markedSecret } from './search-for-secret.ts'

const ACME = 'api.acme-hidden.example'
const OTHER = 'api.other-hidden.example'
const KEY = markedSecret('ak-')

/** Tries each reading, and asks each question on the socket of its run; tells what came of them. */
const ATTACKER = `
  const fs = require('node:fs'), http = require('node:http')
  const { read, ask } = JSON.parse(process.argv[1])
  const outcome = (path) => {
    try {
      const file = fs.openSync(path, 'r')
      const bytes = Buffer.alloc(16)
      return path.endsWith('/mem') ? 'opened' : 'read ' + fs.readSync(file, bytes)
    } catch (error) { return error.code === 'EISDIR' ? 'listed ' + fs.readdirSync(path) : error.code }
  }
  const asked = ([method, path]) => new Promise((resolve) => {
    const request = http.request({ socketPath: process.env.BROKER_RUN_SOCKET, method, path }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ status: answer.statusCode, body: JSON.parse(text) }))
    })
    request.on('error', (error) => resolve(error.code))
    request.end()
  })
  Promise.all(ask.map(asked)).then((answers) => console.log(JSON.stringify({
    read: Object.fromEntries(read.map((path) => [path, outcome(path)])), answers, ppid: process.ppid, env: process.env })))`

describe('the shield', { skip: whyNoIsolation(), timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let world: BrokerHome
  before(async () => {
    ;({ world } = await acmeHome(cleanup, { providers: { acme: ACME, other: OTHER }, key: KEY }))
  })

  async function attack(args: readonly string[], orders: object, env = {}) {
    const command = [process.execPath, '-e', ATTACKER, JSON.stringify({ read: [], ask: [], ...orders })]
    const { code, stdout, stderr } = await world.broker(['run', ...args, '--', ...command], { env })
    assert.equal(code, 0, stderr)
    return { ...JSON.parse(stdout), stderr }
  }

  // biome-ignore lint/suspicious/noExplicitAny: what `log --json` prints.
  async function auditLog(...args: readonly string[]): Promise<any[]> {
    return JSON.parse((await world.broker(['log', '--json', ...args])).stdout)
  }

  function keyFiles(): readonly string[] {
    const identities = join(world.home, 'identities')
    const keys = readdirSync(identities).map((name) => join(identities, name))
    return [...keys, join(world.home, 'server', 'master.key'), join(world.home, 'server', 'bootstrap.secret')]
  }

  it('hides keys, memory and environment of the daemon, and says in the log that it is there', async () => {
    const daemon = world.daemon.process.pid
    const processFiles = ['mem', 'environ', 'maps', 'cwd', 'root', 'fd/0'].map((name) => `/proc/${daemon}/${name}`)
    // The way up from the folder of the command, too.
    const upwards = keyFiles().map((path) => join('..', 'home', path.slice(world.home.length)))

    const { read, stderr } = await attack([], { read: [...keyFiles(), ...upwards, ...processFiles] })

    for (const path of [...keyFiles(), ...upwards]) assert.equal(read[path], 'ENOENT', path)
    for (const path of processFiles) assert.equal(read[path], 'EACCES', path)
    assert.doesNotMatch(stderr, /shield/)
    const [started] = await auditLog('-n', '1', '--event', 'run.started')
    assert.equal(started.isolation, 'shield')
  })

  it('hides nothing with --no-shield, where the same attack gets it all', async () => {
    const { read, env } = await attack(['--no-shield'], { read: keyFiles() })

    for (const path of keyFiles()) assert.equal(read[path], 'read 16', path)
    assert.equal(env.BROKER_RUN_SOCKET, undefined)
    assert.equal((await auditLog('-n', '1', '--event', 'run.started'))[0].isolation, 'none')
  })

  it('hides the process of the run and that of its proxy', async () => {
    const find = `
      const fs = require('node:fs')
      const up = (pid) => pid > 1 ? [pid, ...up(Number(/^PPid:\\s*(\\d+)/m.exec(fs.readFileSync('/proc/' + pid + '/status', 'utf8'))[1]))] : []
      const all = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && Number(name) !== process.pid)
      const proxies = all.filter((pid) => { try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').includes('run-proxy') } catch {} })
      const looked = [process.ppid, ...proxies].flatMap((pid) => ['environ', 'mem'].map((name) => {
        try { fs.closeSync(fs.openSync('/proc/' + pid + '/' + name, 'r')); return 'opened' } catch (error) { return error.code }
      }))
      console.log(JSON.stringify({ looked, cmdline: fs.readFileSync('/proc/' + process.ppid + '/cmdline', 'utf8'), own: fs.readFileSync('/proc/self/environ').length > 0 }))`

    const { stdout } = await world.broker(['run', '--', process.execPath, '-e', find])

    const { looked, cmdline, own } = JSON.parse(stdout)
    assert.match(cmdline, /launch\.js\0run/, 'the parent of the command is `broker run` itself')
    assert.ok(looked.length >= 4)
    assert.deepEqual(new Set(looked), new Set(['EACCES']))
    assert.equal(own, true)
  })

  it('is not undone from inside', async () => {
    const undo = `
      umount "$1" 2>/dev/null; mount -t tmpfs none "$1" 2>/dev/null
      unshare -Urm sh -c 'umount "$1"; umount -l "$1"; ls -A "$1"' sh "$1" 2>/dev/null
      nsenter -t "$PPID" -m ls -A "$1" 2>/dev/null; nsenter -t 1 -m ls -A "$1" 2>/dev/null
      ls -A "/proc/$PPID/root$1" "/proc/1/root$1" 2>/dev/null; ls -A "$1"`

    const { stdout } = await world.broker(['run', '--', 'sh', '-c', undo, 'sh', world.home])

    assert.deepEqual(new Set(stdout.trim().split('\n')), new Set(['run.sock']))
  })

  it('leaves the command a way to ask as its run, and for nothing more', async () => {
    const ask = [
      ['GET', '/api/health'],
      ['GET', '/api/whoami'],
      ['GET', '/api/connections'],
      ['GET', '/api/connections/acme/default'],
      ['GET', `/api/why?url=https://${ACME}/v1`],
      ['GET', '/api/providers/acme'],
      ['GET', '/api/audit/events'],
      ['GET', '/api/connections/other/default'],
      ['GET', '/api/connections/acme/default?reveal=true'],
      ['POST', '/api/session'],
      ['POST', '/api/connections/acme/default/logout'],
      ['POST', '/api/credentials/resolve'],
      ['POST', '/api/runs'],
      ['POST', '/api/auth/sessions'],
      ['GET', '/api/identities'],
      ['GET', '/api/policy'],
      ['PUT', '/api/agents/x/grants'],
      ['GET', '/api/approvals'],
      ['POST', '/api/accesses'],
      ['GET', '/api/proxy/routes'],
    ]

    const { answers } = await attack(['--only', 'acme'], { ask })

    const statuses = answers.map(({ status }: { status: number }, at: number) => `${ask[at]?.join(' ')} ${status}`)
    const expected = ask.map((words, at) => `${words.join(' ')} ${at < 7 ? 200 : 403}`)
    assert.deepEqual(statuses, expected)
    const [, whoami, list, one, , , log] = answers.map(({ body }: { body: unknown }) => body)
    assert.equal(whoami.home, world.home)
    assert.deepEqual(
      list.connections.map(({ provider }: { provider: string }) => provider),
      ['acme'],
    )
    assert.doesNotMatch(JSON.stringify(one), /CNRY/)
    const [started] = await auditLog('-n', '1', '--event', 'run.started')
    assert.ok(log.events.length > 0)
    assert.ok(log.events.every(({ run_id }: { run_id: string }) => run_id === started.run_id))
  })

  it('takes from its command only what makes a run within it smaller', async () => {
    const log = join(world.folder, 'chosen.log')
    const grab = `
      const http = require('node:http')
      const begin = (request, start) => new Promise((resolve) => {
        const headers = { connection: 'Upgrade', upgrade: 'broker-run' }
        const asked = http.request({ socketPath: process.env.BROKER_RUN_SOCKET, path: '/run', headers })
        asked.on('upgrade', (_, socket) => {
          let text = ''
          socket.write(JSON.stringify({ type: 'begin', request }) + '\\n' + JSON.stringify({ type: 'start', start }) + '\\n')
          socket.on('data', (chunk) => {
            text += chunk
            const said = text.split('\\n').slice(0, -1).map((line) => JSON.parse(line))
            const last = said.find(({ type }) => type === 'listening' || type === 'failed')
            if (last) { socket.destroy(); resolve(said.map(({ type, did, routes, failure }) => ({ type, did, hosts: routes?.routes.map(({ host }) => host), failure }))) }
          })
        })
        asked.end()
      })
      const mine = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'
      const start = { runId: 'x', handle: 'x', strict: false, hasBrowser: false, logFile: ${JSON.stringify(log)}, isolation: 'none', parentFolder: ${JSON.stringify(world.folder)} }
      Promise.all([begin({ did: mine, only: ['other'] }, start), begin({ did: mine, isolation: 'none', within: 'x' }, start)]).then((all) => console.log(JSON.stringify({ mine, all })))`

    const { stdout, stderr } = await world.broker(['run', '--only', 'acme', '--', process.execPath, '-e', grab])

    const { mine, all } = JSON.parse(stdout || stderr)
    const [wider, other] = all
    assert.match(wider.at(-1).failure.message, /not started with --only other/)
    assert.notEqual(other[0].did, mine)
    assert.deepEqual(other.find(({ type }: { type: string }) => type === 'routes').hosts, [ACME])
    assert.equal(readdirSync(world.folder).includes('chosen.log'), false)
    const [inner] = await auditLog('-n', '1', '--event', 'run.started')
    assert.equal(inner.isolation, 'shield')
  })

  it('lets `broker` in the command do what a run may, and tells what it may not', async () => {
    const script = `
      "$0" whoami --json && "$0" connections --json && "$0" log --json && "$0" why https://${ACME}/ --json
      "$0" logout acme; echo "code $?"; "$0" login acme --json </dev/null; echo "code $?"; "$0" dashboard --no-browser; echo "code $?"`

    const { stdout } = await world.broker(['run', '--', 'sh', '-c', script, BROKER])

    assert.deepEqual(
      stdout.split('\n').filter((line) => line.startsWith('code')),
      ['code 4', 'code 4', 'code 4'],
    )
    assert.match(stdout, /"principal_role"/)
    assert.match(stdout, /"verdict": "inject"/)
    assert.equal((await world.broker(['connections', '--json'])).stdout.includes('"acme"'), true)
  })

  it('leaves files, descriptors, numbers of processes and the exit code as they are', async () => {
    const script = 'echo written > there.txt; cat <&3; echo "$$ $PPID" > numbers; kill -0 "$PPID" && exit 7'
    writeFileSync(join(world.folder, 'given.txt'), 'given\n')
    const shell = ['-c', `exec 3<given.txt; exec "$0" run -- sh -c '${script}'`, BROKER]
    const { code, stdout } = await runIn(world, 'sh', shell)

    assert.deepEqual([code, stdout], [7, 'given\n'])
    assert.equal(readFileSync(join(world.folder, 'there.txt'), 'utf8'), 'written\n')
    assert.match(readFileSync(join(world.folder, 'numbers'), 'utf8'), /^[1-9]\d* [1-9]\d*\n$/)
  })

  describe('where it cannot be had', () => {
    const FORBIDDEN = '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n'
    const OLD = '#!/bin/sh\necho "bwrap: Unknown option --info-fd" >&2\nexit 1\n'

    for (const [name, bwrap, reason] of [
      ['is missing', undefined, /no bwrap on the PATH.*bubblewrap/],
      ['is forbidden', FORBIDDEN, /setting up uid map: Permission denied/],
      ['is old', OLD, /Unknown option --info-fd/],
    ] as const) {
      it(`runs the command without a word where bubblewrap ${name}, and not at all where it was required`, async () => {
        const env = { PATH: pathWith(join(world.folder, `bin ${name}`), bwrap) }
        const bare = await world.broker(['run', '--', 'true'], { env })
        const required = await world.broker(['run', '--require-isolation', '--', 'touch', 'started'], { env })

        assert.equal(bare.code, 0, bare.stderr)
        assert.doesNotMatch(bare.stderr, /shield/)
        assert.equal((await auditLog('-n', '1', '--event', 'run.started'))[0].isolation, 'none')
        assert.equal(required.code, 4)
        assert.match(required.stderr, reason)
        assert.equal(readdirSync(world.folder).includes('started'), false)
      })
    }

    it('says so in one line where the setting asks for it', async () => {
      const file = join(world.home, 'client', 'config.json')
      const before = readFileSync(file, 'utf8')
      const set = (isolation: string) =>
        writeFileSync(file, JSON.stringify({ ...JSON.parse(before), isolation }), { mode: 0o600 })
      const env = { PATH: pathWith(join(world.folder, 'bin')) }

      set('shield')
      const asked = await world.broker(['run', '--', 'true'], { env })
      set('none')
      const off = await world.broker(['run', '--', 'true'])
      const [offRun] = await auditLog('-n', '1', '--event', 'run.started')
      const raised = await world.broker(['run', '--require-isolation=shield', '--', 'true'])
      const [raisedRun] = await auditLog('-n', '1', '--event', 'run.started')
      set('moat')
      const wrong = await world.broker(['run', '--', 'true'])
      writeFileSync(file, before, { mode: 0o600 })

      assert.equal(asked.code, 0)
      assert.equal(asked.stderr.match(/shield/g)?.length, 1, asked.stderr)
      assert.deepEqual([off.code, offRun.isolation], [0, 'none'])
      assert.deepEqual([raised.code, raisedRun.isolation], [0, 'shield'])
      assert.equal(wrong.code, 2)
      assert.match(wrong.stderr, /"isolation" is none of none, shield, sandbox/)
    })

    it('refuses options that contradict each other', async () => {
      assert.equal((await world.broker(['run', '--no-shield', '--require-isolation', '--', 'true'])).code, 4)
    })

    it('steps down where the command works in the home of Broker itself', async () => {
      const inside = await world.broker(['run', '--', 'true'], { cwd: world.home })
      const required = await world.broker(['run', '--require-isolation', '--', 'true'], { cwd: world.home })

      assert.deepEqual([inside.code, required.code], [0, 4])
      assert.match(required.stderr, /within the home of Broker/)
    })
  })

  it('leaves nothing behind, also where the run was refused', async () => {
    assert.equal((await world.broker(['run', '--only', 'no-such-provider', '--', 'true'])).code, 4)

    assert.deepEqual(readdirSync(join(world.home, 'client', 'runs')), [])
  })
})

async function runIn(world: BrokerHome, file: string, args: readonly string[]) {
  const { spawn } = await import('node:child_process')
  const child = spawn(file, args, { cwd: world.folder, env: world.env, stdio: ['ignore', 'pipe', 'inherit'] })
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, stdout }
}
