import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { LocalApi } from '../demo/local-api.ts'
import { whyNot } from '../tools/available.ts'
import { acmeHome } from './acme-home.ts'
import { BROKER, type BrokerHome } from './broker-command.ts'
import { suiteCleanup } from './daemon-under-test.ts'
import { whyNoIsolation } from './isolation-here.ts'
import { atOwnTerminal } from './own-terminal.ts'
import { pathWith } from './path-with.ts'
import { markedSecret } from './search-for-secret.ts'

const ACME = 'api.acme-walled.example'
const STRANGER = 'www.stranger-walled.example'
const ITEMS = `https://${ACME}/v1/items`
const KEY = markedSecret('ak-')

const ASK = `fetch(process.argv[1]).then(({ status }) => console.log(status), (error) => console.log(String(error.cause?.code ?? error)))`

describe('broker run --sandbox', { skip: whyNoIsolation(), timeout: 240_000 }, () => {
  const cleanup = suiteCleanup()
  let api: LocalApi
  let world: BrokerHome
  let server: Server
  let port: number
  before(async () => {
    ;({ api, world } = await acmeHome(cleanup, { providers: { acme: ACME }, strangers: [STRANGER], key: KEY }))
    server = createHttpServer((_, answer) => answer.end('of the machine')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanup.after(() => server.close())
    ;({ port } = server.address() as AddressInfo)
  })

  const sandboxed = (args: readonly string[], ...command: readonly string[]) =>
    world.broker(['run', '--sandbox', ...args, '--', ...command])

  it('reaches the API with the key through its proxy, and nothing else by itself', async () => {
    const script = `
      "$0" -e "$1" "$2"; "$0" -e "$3" 127.0.0.1 ${port}; "$0" -e "$3" 127.0.0.1 ${world.daemon.port}
      "$0" -e "$3" 169.254.169.254 80; "$0" -e "$3" 1.1.1.1 443`
    const dial = `
      const [, host, port] = process.argv
      require('node:net').connect({ host, port, broker: false }).on('connect', () => console.log('connected')).on('error', ({ code }) => console.log(code))`
    const { code, stdout, stderr } = await sandboxed(
      ['--strict'],
      'sh',
      '-c',
      script,
      process.execPath,
      ASK,
      ITEMS,
      dial,
    )

    assert.equal(code, 0, stderr)
    const [asked, ...dialled] = stdout.trim().split('\n')
    assert.equal(asked, '200', stderr)
    assert.equal(dialled.length, 4)
    for (const outcome of dialled) assert.match(outcome, /^(?:ECONNREFUSED|ENETUNREACH)$/)
    assert.equal(api.received.at(-1)?.headers['authorization'], `Bearer ${KEY}`)
    const [started] = await auditLog('-n', '1', '--event', 'run.started')
    assert.equal(started.isolation, 'sandbox')
  })

  it('is not led around its walls by the proxy', async () => {
    const run = await world.startAsking(['--sandbox'])
    const own = await run.connect(`127.0.0.1:${port}`)
    const named = await run.connect(`localhost:${port}`)
    const other = await run.connect(`[::ffff:127.0.0.1]:${port}`)
    const daemon = await run.connect(`127.0.0.1:${world.daemon.port}`)
    const stranger = await run.connect(`${STRANGER}:443`)
    await run.end()

    assert.deepEqual(
      [own.status, named.status, other.status, daemon.status, stranger.status],
      [403, 403, 403, 403, 200],
    )
    assert.match(own.body.hint, /--allow-port/)
  })

  it('writes its folder and temporary files, and sees no keys, no processes and no sockets of others', async () => {
    const outside = join(world.temporary, 'outside.txt')
    const script = `
      echo in > there.txt; echo tmp > /tmp/own.txt && echo tmp >> "$TMPDIR/own.txt" && echo "temporary"
      echo out > "${outside}"; touch "$HOME/x" /usr/x "${world.home}/x" 2>/dev/null || echo "refused"
      ls -A "${world.home}"; ls /proc | grep -c '^[0-9]*$'; ls -A /run; cat "${world.home}/server/master.key"; kill -0 ${process.pid} || echo "no such process"`

    const { stdout } = await sandboxed([], 'sh', '-c', script)

    const [temporary, refused, ...rest] = stdout.trim().split('\n')
    assert.deepEqual([temporary, refused], ['temporary', 'refused'])
    const [processes = '', ...last] = rest.splice(-2)
    assert.ok(Number(processes) < 10, stdout)
    assert.deepEqual(last, ['no such process'])
    // Nothing of the home but its sockets, and no socket of others.
    for (const name of rest) assert.match(name, /^(?:open|proxy|run)\.sock$/)
    assert.equal(readFileSync(join(world.folder, 'there.txt'), 'utf8'), 'in\n')
    assert.equal(existsSync(outside), false)
    assert.equal(existsSync('/tmp/own.txt'), false)
  })

  describe('ends as the command does', { concurrency: 4 }, () => {
    for (const [command, code] of [
      [['sh', '-c', 'exit 7'], 7],
      [['sh', '-c', 'kill -9 $$'], 137],
      [['no-such-command-anywhere'], 127],
      [['/'], 126],
    ] as const) {
      it(`with ${code} for ${command.join(' ')}`, async () => {
        assert.equal((await sandboxed([], ...command)).code, code)
      })
    }

    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const) {
      it(`with ${code} after ${signal}`, async () => {
        const run = await world.startAsking(['--sandbox'])

        run.process.kill(signal)

        assert.equal((await run.ended).code, code)
      })
    }

    it('by its own choice where it takes the signal, and not before', async () => {
      const code = `process.on('SIGINT', () => { console.log('taken'); setTimeout(() => process.exit(9), 50) }); console.log('ready'); setInterval(() => {}, 1000)`
      const running = world.start(['run', '--sandbox', '--', process.execPath, '-e', code])
      assert.ok(running.process.stdout)
      await once(running.process.stdout, 'data')

      running.process.kill('SIGINT')

      const { code: exit, stdout } = await running.ended
      assert.deepEqual([exit, stdout], [9, 'ready\ntaken\n'])
    })
  })

  it('has its pipes, and the descriptors that it was started with', async () => {
    writeFileSync(join(world.folder, 'given.txt'), 'given\n')
    const piped = await world.broker(['run', '--sandbox', '--', 'tr', 'a-z', 'A-Z'], { input: 'through\n' })
    const shell = `exec 3<given.txt 5<given.txt; exec "$0" run --sandbox -- sh -c 'cat <&3; cat <&5; ls /proc/self/fd | wc -l'`
    const run = await world.broker(['run', '--no-shield', '--', 'sh', '-c', shell, BROKER])

    assert.equal(piped.stdout, 'THROUGH\n')
    assert.match(run.stdout, /^given\ngiven\n/, run.stderr)
  })

  it('has its terminal: size, Ctrl-C that it takes itself, Ctrl-Z and fg', { skip: whyNot('python3') }, async () => {
    const script = `trap 'echo taken' INT; stty size; trap 'stty size' WINCH; echo ready; while read -r line; do echo "got $line"; done; echo over`
    const file = join(world.folder, 'interactive.sh')
    writeFileSync(file, script)
    const terminal = await atOwnTerminal(cleanup, ['bash', '--norc', '-i'], {
      cwd: world.folder,
      env: world.env,
      columns: 90,
    })
    await terminal.sees(/[#$] /)
    terminal.type(`${BROKER} run --sandbox -- bash interactive.sh\n`)
    await terminal.sees(/24 90\s+ready/)

    terminal.type('one\n')
    await terminal.sees(/got one/)
    terminal.type('\x03')
    await terminal.sees(/taken/)
    terminal.type('two\n')
    await terminal.sees(/got two/)
    terminal.resize(70)
    terminal.type('sized\n')
    await terminal.sees(/24 70/)
    terminal.type('\x1a')
    await terminal.sees(/Stopped[\s\S]*[#$] /)
    terminal.type('fg\n')
    terminal.type('three\n')
    await terminal.sees(/got three/)
    terminal.type('\x04')
    await terminal.sees(/over[\s\S]*[#$] /)
    terminal.type('exit\n')
    assert.equal((await terminal.ended).code, 0)
  })

  it('lets nobody type into the terminal for its user', { skip: whyNot('python3') }, async () => {
    const type = `
import fcntl, termios
try: fcntl.ioctl(0, termios.TIOCSTI, b'x')
except OSError as error: print(error.errno)`
    const inside = await sandboxed([], 'python3', '-c', type)
    const outside = await world.broker(['run', '--', 'python3', '-c', type])

    // EPERM of the filter, in place of ENOTTY of a pipe.
    assert.deepEqual([inside.stdout, outside.stdout], ['1\n', '25\n'], inside.stderr)
  })

  it('opens what it is told to: paths, ports, hosts', async () => {
    const other = join(world.temporary, 'other')
    const secret = join(world.folder, '..', '.ssh')
    for (const folder of [other, secret]) mkdirSync(folder)
    writeFileSync(join(secret, 'id'), 'a key\n')
    const script = `
      cat "${secret}/id" 2>/dev/null || echo "hidden"; echo x > "${other}/written.txt" 2>/dev/null || echo "refused"; curl -sS -m 10 --noproxy '*' http://127.0.0.1:${port}/ || echo " closed"`
    const closed = await sandboxed([], 'sh', '-c', script)
    const allowed = ['--allow-read', secret, '--allow-write', other, '--allow-port', String(port)]
    const opened = await sandboxed(allowed, 'sh', '-c', script)

    assert.equal(closed.stdout, 'hidden\nrefused\n closed\n')
    assert.equal(opened.stdout, 'a key\nof the machine')
    assert.deepEqual(readdirSync(other), ['written.txt'])
    writeFileSync(join(secret, 'config'), 'settings\n')
    const one = ['--allow-read', join(secret, 'config')]
    const part = await sandboxed(
      one,
      'sh',
      '-c',
      `cat "${secret}/config"; cat "${secret}/id" || echo x > "${secret}/new" || echo hidden`,
    )
    assert.equal(part.stdout, 'settings\nhidden\n', part.stderr)
    const missing = await sandboxed(['--allow-write', join(other, 'gone')], 'true')
    assert.equal(missing.code, 2)
    const useless = await world.broker(['run', '--allow-write', other, '--', 'true'])
    assert.equal(useless.code, 2)
    assert.match(useless.stderr, /--sandbox/)
  })

  it('has a server that it starts reached from outside by a port that it was given', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port: given } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    const greeter = `require('node:net').createServer((one) => one.end('hello from inside')).listen(${given}, '127.0.0.1', () => console.log('ready'))`
    const running = world.start([
      'run',
      '--sandbox',
      '--allow-port',
      String(given),
      '--',
      process.execPath,
      '-e',
      greeter,
    ])
    assert.ok(running.process.stdout)
    await once(running.process.stdout, 'data')

    for (let time = 0; time < 3; time += 1) {
      const client = connect(given, '127.0.0.1')
      let text = ''
      client.on('data', (chunk) => (text += chunk))
      await once(client, 'close')
      assert.equal(text, 'hello from inside')
    }
    running.process.kill('SIGTERM')
    assert.equal((await running.ended).code, 143)
  })

  it('has a host that it was given by its name, also for programs that know no proxy, and with --strict', {
    skip: process.getuid?.() !== 0 && 'only root listens at ports below 1024',
  }, async () => {
    const dial = `require('node:tls').connect({ host: '${STRANGER}', servername: '${STRANGER}', port: 443, rejectUnauthorized: false }, function () { console.log(this.getPeerCertificate().subjectaltname.includes('${STRANGER}')); this.destroy() }).on('error', ({ code }) => console.log(code))`
    const without = 'env -u NODE_OPTIONS -u HTTPS_PROXY -u https_proxy "$0" -e "$1"'
    const command = ['sh', '-c', without, process.execPath, dial]

    const refused = await sandboxed(['--strict'], ...command)
    const given = await sandboxed(['--strict', '--allow-net', `${STRANGER}:443`], ...command)

    assert.match(refused.stdout, /^E/)
    assert.equal(given.stdout, 'true\n', given.stderr)
  })

  it('has `broker` and runs within it, which are no wider', async () => {
    const inner = `"$0" whoami --json >/dev/null && "$0" run -- "$1" -e "$2" "$3"; "$0" run --sandbox -- true; echo "code $?"`
    const { stdout, stderr } = await sandboxed([], 'sh', '-c', inner, BROKER, process.execPath, ASK, ITEMS)

    assert.equal(stdout, '200\ncode 4\n', stderr)
    const [within] = await auditLog('-n', '1', '--event', 'run.started')
    assert.equal(within.isolation, 'sandbox')
  })

  it('is not started at all where it cannot be had', async () => {
    const env = { PATH: pathWith(join(world.folder, 'bin')) }
    for (const option of ['--sandbox', '--require-isolation=sandbox']) {
      const { code, stderr } = await world.broker(['run', option, '--', '/bin/sh', '-c', 'echo started'], { env })
      assert.equal(code, 4, stderr)
      assert.match(stderr, /The sandbox cannot be had/)
    }
    assert.equal((await world.broker(['run', '--sandbox', '--no-shield', '--', 'true'])).code, 2)
  })

  it('leaves nothing behind', () => {
    assert.deepEqual(readdirSync(join(world.home, 'client', 'runs')), [])
    assert.deepEqual(
      readdirSync(world.temporary).filter((name) => name.startsWith('broker-run-')),
      [],
    )
  })

  // biome-ignore lint/suspicious/noExplicitAny: what `log --json` prints.
  async function auditLog(...args: readonly string[]): Promise<any[]> {
    return JSON.parse((await world.broker(['log', '--json', ...args])).stdout)
  }
})
