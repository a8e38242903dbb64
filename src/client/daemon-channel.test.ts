import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { suite, test } from 'node:test'
import { BrokerError, encodeFrame, FrameReader } from '../protocol/index.ts'
import { DaemonChannel, NoChannel } from './daemon-channel.ts'

const QUESTION = { host: 'api.acme.test', port: 443 }
const ANSWER = { provider: 'acme', connection: 'default', places: [], release: 7 }

function refused(): BrokerError {
  return new BrokerError('AuthenticationFailedError', 'The proof is from the future')
}

suite('the channel of a run, from its side', () => {
  test('is opened again by itself, whatever had it refused', async () => {
    const opened = Promise.withResolvers<void>()
    let tries = 0
    const channel = new DaemonChannel({
      open: async () => {
        tries += 1
        if (tries < 3) throw refused()
        const [socket] = duplexPair()
        opened.resolve()
        return { socket, head: Buffer.alloc(0) }
      },
      without: { resolve: () => assert.fail(), ship: () => assert.fail() },
      onChanged: () => undefined,
    })
    await assert.rejects(channel.open(), { name: 'AuthenticationFailedError' })
    await opened.promise
    channel.close()
    assert.equal(tries, 3)
  })

  test('asks once more where the connection was lost, and no more than that', async () => {
    let connections = 0
    const channel = new DaemonChannel({
      open: async () => {
        connections += 1
        const [socket, far] = duplexPair()
        const isLast = connections === 2
        const reader = new FrameReader()
        far.on('data', (chunk: Buffer) => {
          for (const { number } of reader.read(chunk)) {
            if (isLast) far.write(encodeFrame('answer', number, ANSWER))
            else far.destroy()
          }
        })
        far.once('close', () => socket.destroy())
        return { socket, head: Buffer.alloc(0) }
      },
      without: { resolve: () => assert.fail(), ship: () => assert.fail() },
      onChanged: () => undefined,
    })
    assert.equal((await channel.resolve(QUESTION)).release, 7)
    assert.equal(connections, 2)
    channel.close()
  })

  test('asks by requests where the daemon knows no channels, and looks for one no more', async () => {
    let tries = 0
    const asked: unknown[] = []
    const channel = new DaemonChannel({
      open: async () => {
        tries += 1
        throw new NoChannel()
      },
      without: {
        resolve: async (question) => {
          asked.push(question)
          return { provider: 'acme', connection: 'default', places: [] }
        },
        ship: async (events) => void asked.push(events),
      },
      onChanged: () => undefined,
    })
    await channel.resolve({ ...QUESTION, count: 3 })
    const event = { event: 'proxy.request', status: 'success' } as const
    await channel.ship({ after: 0, events: [{ number: 1, ...event }] })
    assert.deepEqual(asked, [QUESTION, [event]])
    assert.equal(tries, 1)
  })
})
