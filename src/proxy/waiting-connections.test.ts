import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { authorizationLine, Client, openPlain, stage, tcpOrigin } from './test-stage.ts'
import { WAITING_TIME_LIMIT, WaitingConnections } from './waiting-connections.ts'

const HEAD = 'CONNECT api.other.test:443 HTTP/1.1\r\nHost: api.other.test:443\r\n'
const ANSWERED = /^HTTP\/1\.1 (?:407|403) .*\r\n\r\n\{.*\}$/s

test('who is silent, drips or has no credentials is let go after a while, and who was served may be idle', async (t) => {
  const { proxy } = await stage(t, {}, { strict: true })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const [silent, dripping, unknown, idle] = Array.from({ length: 4 }, () => openPlain(t, proxy)) as Quartet
  dripping.send('C')
  unknown.send(`${HEAD}\r\n`)
  idle.send(`${HEAD}${authorizationLine(proxy)}\r\n`)
  await Promise.all([unknown.until(ANSWERED), idle.until(ANSWERED)])

  t.mock.timers.tick(WAITING_TIME_LIMIT)
  await Promise.all([silent.untilClosed(), dripping.untilClosed(), unknown.untilClosed()])

  idle.clear()
  idle.send(`${HEAD}${authorizationLine(proxy)}\r\n`)
  assert.match(await idle.until(ANSWERED), /^HTTP\/1\.1 403 /)
})

type Quartet = [Client, Client, Client, Client]

test('of too many the one that waits longest is closed, and none that was admitted', async (t) => {
  const waiting = new WaitingConnections(2)
  const taken: Socket[] = []
  const service = await tcpOrigin(t, (socket) => {
    taken.push(socket)
    waiting.add(socket)
    if (taken.length === 1) waiting.admit(socket)
  })
  const [admitted, longest, second, third] = await connected(t, service.port, 4)

  await longest.untilClosed()

  assert.deepEqual([admitted.closed, second.closed, third.closed], [false, false, false])
})

/** One after the other, each once the one before is there. */
async function connected(t: TestContext, port: number, count: number): Promise<Quartet> {
  const clients: Client[] = []
  for (let index = 0; index < count; index += 1) {
    const client = new Client(connect({ host: '127.0.0.1', port }))
    t.after(() => client.socket.destroy())
    await once(client.socket, 'connect')
    clients.push(client)
  }
  return clients as Quartet
}
