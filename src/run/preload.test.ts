import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nodeStage, nodes, whyNoFurtherNodes } from './preload.fixture.ts'

const PRELOAD = fileURLToPath(new URL('./preload.cjs', import.meta.url))

const require = createRequire(import.meta.url)
/** Full paths of real clients, as the child's scripts name them. */
const AGENTKEEPALIVE = JSON.stringify(require.resolve('agentkeepalive'))
const UNDICI = JSON.stringify(require.resolve('undici'))
const NOCK = JSON.stringify(require.resolve('nock'))
const WS = JSON.stringify(require.resolve('ws'))
const HTTPS_PROXY_AGENT = JSON.stringify(import.meta.resolve('https-proxy-agent'))

const GET = `
  const { once } = require('node:events')
  const get = (url, options = {}) => new Promise((resolve, reject) =>
    require(url.startsWith('https') ? 'node:https' : 'node:http').get(url, options, (response) => {
      let body = ''
      response.on('data', (chunk) => { body += chunk })
      response.on('end', () => resolve(body))
    }).on('error', reject))
  const say = (promise) => promise.then(console.log, (error) => console.log((error.cause ?? error).code));
`

const API = 'https://api.prov.test/'
const PLAIN = 'http://plain.test/'

const CLIENTS: readonly (readonly [string, string])[] = [
  ['fetch', `say(fetch('${API}').then((response) => response.text()))`],
  ['the global agent', `say(get('${API}'))`],
  ['an agent of its own', `say(get('${API}', { agent: new (require('node:https').Agent)({ keepAlive: true }) }))`],
  ['an agent for one request', `say(get('${API}', { agent: false }))`],
  ['agentkeepalive', `say(get('${API}', { agent: new (require(${AGENTKEEPALIVE}).HttpsAgent)() }))`],
  [
    'an agent of undici',
    `const { Agent, request } = require(${UNDICI})
     say(request('${API}', { dispatcher: new Agent() }).then(({ body }) => body.text()))`,
  ],
  [
    'a pool of undici',
    `say(new (require(${UNDICI}).Pool)('${API}').request({ path: '/', method: 'GET' }).then(({ body }) => body.text()))`,
  ],
  [
    'ws',
    `new (require(${WS}))('wss://api.prov.test/').on('unexpected-response', (request, { statusCode }) => {
       console.log(statusCode === 418 ? 'authentic' : 'bare')
       request.destroy()
     }).on('error', () => {})`,
  ],
  [
    'tls.connect by port and host',
    `const socket = require('node:tls').connect(443, 'api.prov.test', { servername: 'api.prov.test' }, () =>
       socket.write('GET / HTTP/1.1\\r\\nHost: api.prov.test\\r\\n\\r\\n'))
     socket.on('data', (answer) => { console.log(String(answer).split('\\r\\n').pop()); socket.destroy() })`,
  ],
  [
    'tls.connect with all that says how to get there',
    `const socket = require('node:tls').connect({ host: 'api.prov.test', port: '443', servername: 'api.prov.test',
       localAddress: '127.0.0.1', family: 6, autoSelectFamily: true, lookup: () => { throw new Error('asked') } })
     socket.write('GET / HTTP/1.1\\r\\nHost: api.prov.test\\r\\n\\r\\n')
     socket.on('data', (answer) => { console.log(String(answer).split('\\r\\n').pop()); socket.destroy() })`,
  ],
  [
    'a worker thread',
    `new (require('node:worker_threads').Worker)("fetch('${API}').then((r) => r.text()).then(console.log)", { eval: true })`,
  ],
  [
    'a child with options of its own',
    `require('node:child_process').spawn(process.execPath, ['--no-warnings', '--eval',
       "require('node:https').get('${API}', { agent: false }, (response) => response.pipe(process.stdout))"], { stdio: 'inherit' })`,
  ],
]

for (const node of nodes) {
  describe(`${node === process.execPath ? 'the pinned Node' : node} as a child`, () => {
    for (const [name, script] of CLIENTS) {
      test(`${name} is authentic to a routed host`, async (t) => {
        const { lines } = await nodeStage(t, node)

        assert.deepEqual(await lines(GET + script), ['authentic'])
      })
    }

    test('an ES module that imports tls.connect by name is authentic, also before the program begins', async (t) => {
      const { run } = await nodeStage(t, node)
      const module = join(temporaryFolder(t), 'first.mjs')
      writeFileSync(
        module,
        `import { connect } from 'node:tls'
         const socket = connect(443, 'api.prov.test', { servername: 'api.prov.test' })
         socket.write('GET / HTTP/1.1\\r\\nHost: api.prov.test\\r\\n\\r\\n')
         socket.on('data', (answer) => { console.log(String(answer).split('\\r\\n').pop()); socket.destroy() })`,
      )

      assert.deepEqual(await run(['--import', module, '--eval', '0']), { code: 0, stdout: 'authentic\n', stderr: '' })
    })

    test('plain HTTP goes through the proxy, whoever speaks it', async (t) => {
      const { lines } = await nodeStage(t, node)

      const script = `${GET}(async () => {
        await say(get('${PLAIN}'))
        await say(get('http://plain.test:8080/', { agent: new (require('node:http').Agent)() }))
        await say(get('${PLAIN}', { createConnection: (options) => require('node:net').connect(options) }))
        await say(fetch('${PLAIN}').then((response) => response.text()))
        await say(require(${UNDICI}).request('${PLAIN}').then(({ body }) => body.text()))
        process.exit()
      })()`
      assert.deepEqual(await lines(script), ['bare', 'bare', 'bare', 'bare', 'bare'])
    })

    test('a mock that answers by itself is left to do so, and lets through what it does not know', async (t) => {
      const { lines } = await nodeStage(t, node)
      const mock = `
        const { default: nock } = require(${NOCK})
        nock('https://api.prov.test').get('/mocked').reply(200, 'mocked')
        nock('https://api.prov.test').get('/mocked').reply(200, 'mocked')
        ;(async () => {
          await say(get('${API}mocked'))
          await say(fetch('${API}mocked').then((response) => response.text()))
          nock.restore()
          await say(get('${API}'))
        })()`

      assert.deepEqual(await lines(GET + mock), ['mocked', 'mocked', 'authentic'])
    })

    test('HTTP/2 to a host that is not routed passes', async (t) => {
      const { lines } = await nodeStage(t, node)

      const script = `const session = require('node:http2').connect('https://h2.test')
        session.request({ ':path': '/' }).on('data', (body) => { console.log(String(body)); session.close() })`
      assert.deepEqual(await lines(script), ['two'])
    })

    test('what has its way already, or is neither TLS nor HTTP, is left alone', async (t) => {
      const { lines } = await nodeStage(t, node)

      // Direct, the name is not known; and a second tunnel inside the first would be refused.
      const script = `${GET}(async () => {
        const { HttpsProxyAgent } = await import(${HTTPS_PROXY_AGENT})
        await say(get('${API}', { agent: new HttpsProxyAgent(process.env.HTTPS_PROXY) }))
        await say(once(require('node:net').connect(443, 'api.prov.test'), 'connect'))
        await say(once(require('node:tls').connect({ path: '/nowhere.sock' }), 'connect'))
        await say(get('http://localhost/', { socketPath: '/nowhere.sock' }))
        await say(get('${API}', { agent: new (require('node:https').Agent)() }))
      })()`
      assert.deepEqual(await lines(script), ['authentic', 'ENOTFOUND', 'ENOENT', 'ENOENT', 'authentic'])
    })

    test('a user who lets Node use the proxy gets one tunnel, and his own agents theirs', async (t) => {
      const { run } = await nodeStage(t, node, { NODE_USE_ENV_PROXY: '1' })

      const script = `${GET}(async () => {
        await say(get('${API}'))
        await say(fetch('${API}').then((response) => response.text()))
        await say(get('${PLAIN}'))
        await say(get('${API}', { agent: new (require('node:https').Agent)() }))
      })()`
      const { stdout } = await run(['--eval', script])
      assert.equal(stdout, 'authentic\nauthentic\nbare\nauthentic\n')
    })

    test('NO_PROXY is read as curl reads it', async (t) => {
      const entries = [
        '.under.test',
        '*.star.test',
        'UPPER.test',
        'port.test:443',
        '127.9.0.0/16',
        '10.0.0.0/99',
        'a/b',
      ]
      const { lines } = await nodeStage(t, node, { NO_PROXY: entries.join() })

      const script = (targets: readonly (readonly [string, number])[]) => `(async () => {
        for (const [host, port] of ${JSON.stringify(targets)}) {
          const socket = require('node:tls').connect({ host, port, servername: 'a.test' })
          const code = await new Promise((resolve) => socket.on('error', (error) => resolve(error.code)))
          console.log(host, code === 'ERR_PROXY_TUNNEL' ? 'led' : 'direct')
        }
      })()`
      const direct = ['a.under.test', 'under.test', 'a.star.test', 'upper.TEST', 'port.test', '127.9.8.7', 'localhost']
      assert.deepEqual(
        await lines(script(direct.map((host) => [host, host === 'port.test' ? 443 : 9]))),
        direct.map((host) => `${host} direct`),
      )
      const led = ['runder.test', 'upper.test.invalid', 'port.test', '127.8.0.1', '2001:db8::1']
      assert.deepEqual(
        await lines(script(led.map((host) => [host, 9]))),
        led.map((host) => `${host} led`),
      )
    })

    test('a refusal of the proxy is an error that says what was refused, and why', async (t) => {
      const { lines, environment } = await nodeStage(t, node)

      const script = `require('node:tls').connect({ host: 'nowhere.invalid', port: 443 }).on('error', ({ code, statusCode, message }) =>
        console.log(code + ' ' + statusCode + ' ' + message))`
      assert.deepEqual(await lines(script), [
        'ERR_PROXY_TUNNEL 502 The proxy answered 502 to CONNECT nowhere.invalid:443: ' +
          'Cannot reach nowhere.invalid: its name could not be resolved',
      ])
      const strangers = { HTTPS_PROXY: environment['HTTPS_PROXY']?.replace(/:[^:@]*@/, ':CNRYwrong@') ?? '' }
      assert.match((await lines(script, strangers)).join(), /^ERR_PROXY_TUNNEL 407 /)
    })

    test('a proxy that is gone, or goes before it answers, is an error; of another kind, it is none of ours', async (t) => {
      const { lines } = await nodeStage(t, node)
      const goes = await listening(t)

      const script = `${GET}(async () => {
        say(fetch('${API}'))
        require('node:tls').connect({ host: 'api.prov.test', port: 443 }).on('error', ({ message }) => console.log(message)) })()`
      assert.deepEqual((await lines(script, { HTTPS_PROXY: `http://a:CNRYb@127.0.0.1:${goes}` })).toSorted(), [
        'The proxy closed the connection at CONNECT api.prov.test:443',
        'undefined',
      ])
      assert.deepEqual((await lines(script, { HTTPS_PROXY: 'http://a:CNRYb@127.0.0.1:1' })).toSorted(), [
        'ECONNREFUSED',
        'connect ECONNREFUSED 127.0.0.1:1',
      ])
      for (const foreign of ['', '::', 'socks5://127.0.0.1:1'])
        assert.deepEqual(await lines(`${GET}say(fetch('${API}'))`, { HTTPS_PROXY: foreign }), ['ENOTFOUND'])
    })

    test('a socket is the one that Node gives: its states, its order, its session and its end', async (t) => {
      const { lines } = await nodeStage(t, node)

      const script = `(async () => {
        const { connect } = require('node:tls')
        const to = { host: 'bare.test', port: 443, servername: 'bare.test' }
        const socket = connect(to, () => console.log('called'))
        console.log(socket.connecting, socket.readyState, socket.encrypted, socket.authorized)
        socket.setNoDelay(true).setKeepAlive(true).unref().ref()
        for (const event of ['lookup', 'connect', 'ready', 'secureConnect', 'end', 'close']) socket.on(event, () => console.log(event))
        socket.write('early ')
        let session
        socket.once('session', (given) => { session = given })
        socket.on('data', (data) => console.log(String(data)))
        socket.once('data', () => {
          console.log(socket.connecting, socket.readyState, socket.authorized, socket.remoteAddress)
          socket.end('late')
        })
        socket.on('close', () => {
          const again = connect({ ...to, session }, () => { console.log(again.isSessionReused()); again.destroy() })
        })
      })()`
      assert.deepEqual(await lines(script), [
        'true opening true false',
        ...[
          'connect',
          'ready',
          'called',
          'secureConnect',
          'early ',
          'false open true 127.0.0.1',
          'late',
          'end',
          'close',
        ],
        'true',
      ])
    })

    test('a socket that is left, or that nobody waits for, holds nothing up', async (t) => {
      const { lines } = await nodeStage(t, node)
      const silent = await listening(t, 'silent')

      const script = `const { connect } = require('node:tls')
        const to = { host: 'bare.test', port: 443 }
        const aborted = new AbortController()
        connect({ ...to, signal: aborted.signal }).on('error', ({ name }) => console.log(name))
        connect(to).on('close', (failed) => console.log('closed', failed)).destroy()
        connect({ ...to, timeout: 1 }).on('timeout', function () { console.log('timeout'); this.destroy() })
        connect(to).unref()
        aborted.abort()`
      assert.deepEqual((await lines(script, { HTTPS_PROXY: `http://a:CNRYb@127.0.0.1:${silent}` })).toSorted(), [
        'AbortError',
        'closed false',
        'timeout',
      ])
    })

    test('what Node refuses, Node refuses', async (t) => {
      const { lines } = await nodeStage(t, node)

      const script = `const tls = require('node:tls')
        for (const to of [{ host: 'a.test', port: 70000 }, { host: 5, port: 443 }, { host: 'a.test' }])
          try { tls.connect(to).on('error', () => {}) } catch ({ code }) { console.log(code) }
        tls.connect({ host: 'b\\u00fccher.invalid', port: 443 }).on('error', ({ statusCode }) => console.log(statusCode))
        tls.connect({ host: 'api.prov.test', port: 443, servername: 'api.prov.test', checkServerIdentity: () => new Error('not he') })
          .on('error', ({ message }) => console.log(message))`
      const [port, host, missing, ...answers] = await lines(script)
      assert.deepEqual([port, host, missing], ['ERR_SOCKET_BAD_PORT', 'ERR_INVALID_ARG_TYPE', 'ERR_MISSING_ARGS'])
      assert.deepEqual(answers.toSorted(), ['502', 'not he'])
    })

    test('a body of many chunks comes back whole, at the pace of a slow reader', async (t) => {
      const { lines } = await nodeStage(t, node)

      const script = `const size = 16 * 1024 * 1024
        const hash = () => require('node:crypto').createHash('sha256')
        const sent = Buffer.alloc(size, 'some of it ')
        const socket = require('node:tls').connect({ host: 'bare.test', port: 443, servername: 'bare.test' })
        const seen = hash()
        socket.end(sent)
        socket.on('data', (chunk) => {
          seen.update(chunk)
          socket.pause()
          setImmediate(() => socket.resume())
        })
        socket.on('end', () => console.log(seen.digest('hex') === hash().update(sent).digest('hex')))`
      assert.deepEqual(await lines(script), ['true'])
    })

    test('the preload is there once, and does not look at the environment again', async (t) => {
      const { lines, environment } = await nodeStage(t, node)
      const copy = join(temporaryFolder(t), 'copy.cjs')
      writeFileSync(
        copy,
        `process.first = require('node:net').Socket.prototype.connect; require('node:module')._load(${JSON.stringify(PRELOAD)}); delete require.cache[${JSON.stringify(PRELOAD)}]; require(${JSON.stringify(PRELOAD)})`,
      )

      const script = `${GET}delete process.env.HTTPS_PROXY
        console.log(process.first === require('node:net').Socket.prototype.connect)
        say(get('${API}', { agent: false }))`
      const twice = { NODE_OPTIONS: `${environment['NODE_OPTIONS']} --require ${JSON.stringify(copy)}` }
      assert.deepEqual(await lines(script, twice), ['true', 'authentic'])
    })

    test('a Node without the way in is asked to use the proxy by itself', async (t) => {
      const hiding = join(temporaryFolder(t), 'hiding.cjs')
      writeFileSync(
        hiding,
        `const { Socket } = require('node:net')
         for (const symbol of Object.getOwnPropertySymbols(Socket.prototype)) if (/reinit/i.test(symbol.description)) delete Socket.prototype[symbol]`,
      )
      const { run } = await nodeStage(t, node, { NODE_OPTIONS: `--require ${JSON.stringify(hiding)}` })

      const script = `${GET}if (require('node:http').setGlobalProxyFromEnv) say(get('${API}')); else console.log('authentic')`
      assert.equal((await run(['--eval', script])).stdout, 'authentic\n')
    })
  })
}

test('children of other versions of Node are tried, too', { skip: whyNoFurtherNodes }, () => {
  const versions = nodes.map((node) => spawnSync(node, ['--version']).stdout.toString())

  assert.equal(new Set(versions).size, nodes.length)
})

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'broker-preload-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Port of something that takes connections, and closes them at once or never says a word. */
async function listening(t: TestContext, manner: 'closing' | 'silent' = 'closing'): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => manner === 'closing' && socket.end())
    t.after(() => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
