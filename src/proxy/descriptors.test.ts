import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Secret } from '../protocol/index.ts'
import type { RunningProxy } from './start-proxy.ts'
import { authorizationLine, openPlain, openTunnel, tcpOrigin } from './test-stage.ts'

const FIXTURE = fileURLToPath(new URL('./descriptors.fixture.ts', import.meta.url))
const PASSWORD = 'CNRYdescriptors'
const DAEMON_PORT = 7998

test('a proxy without a descriptor left refuses, and serves again once there are some', async (t) => {
  // Only where it is asked, and somebody listens: what came with the answer to CONNECT would be heard by nobody.
  const origin = await tcpOrigin(t, (socket) => socket.once('data', () => socket.end('served')))
  const { proxy, tell } = await proxyWithFewDescriptors(t)
  const client = openPlain(t, proxy)
  client.send('CONNECT localhost:443 HTTP/1.1\r\n\r\n')
  await client.until(/^HTTP\/1\.1 407 .*\r\n\r\n\{.*\}$/s)
  client.clear()

  await tell('fill')
  client.send(`CONNECT 192.0.2.1:${DAEMON_PORT} HTTP/1.1\r\n${authorizationLine(proxy)}\r\n`)
  assert.match(await client.until(/\}$/), /^HTTP\/1\.1 403 .*x-broker-error/is)
  client.clear()
  client.send(`CONNECT 127.0.0.1:${origin.port} HTTP/1.1\r\n${authorizationLine(proxy)}\r\n`)
  assert.match(await client.until(/\}$/), /^HTTP\/1\.1 502 .*no more connections/is)
  await openPlain(t, proxy).untilClosed()

  await tell('free')
  const tunnel = await openTunnel(t, proxy, `127.0.0.1:${origin.port}`)
  const answer = once(tunnel, 'data')
  tunnel.write('serve')
  assert.equal(String((await answer)[0]), 'served')
})

async function proxyWithFewDescriptors(t: TestContext) {
  const child = spawn(
    'sh',
    ['-c', 'ulimit -n 100 && exec "$@"', 'sh', process.execPath, FIXTURE, String(DAEMON_PORT), PASSWORD],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  t.after(() => child.kill('SIGKILL'))
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`The proxy ended with ${code}`)
  })
  exited.catch(() => {})
  const said = () => Promise.race([once(child, 'message'), exited])
  const [port] = await said()
  const proxy = { port, credentials: { username: 'broker', password: new Secret(PASSWORD) } } as RunningProxy
  const tell = (word: 'fill' | 'free') => {
    child.send(word)
    return said()
  }
  return { proxy, tell }
}
