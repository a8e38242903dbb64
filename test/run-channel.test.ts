import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { before, describe, it } from 'node:test'
import { DaemonClient } from '../src/client/index.ts'
import { generateSigningKey, mintProof, type SigningKey } from '../src/identity/index.ts'
import { encodeFrame, type Frame, FrameReader } from '../src/protocol/index.ts'
import { type Caller, connect, type DaemonUnderTest, owner, startDaemon, suiteCleanup } from './daemon-under-test.ts'
import { markedSecret } from './search-for-secret.ts'

const KEY = markedSecret('sk-ant-api03-')
const HOST = 'api.anthropic.com'
const UPGRADE = { connection: 'Upgrade', upgrade: 'broker-channel/1' }

interface StartedRun {
  readonly id: string
  readonly key: SigningKey
  readonly caller: Caller
}

/** The channel of a run, spoken to with bytes of its own. */
describe('the channel of a run', { timeout: 120_000 }, () => {
  const cleanup = suiteCleanup()
  let daemon: DaemonUnderTest
  let ada: Caller
  before(async () => {
    daemon = await startDaemon(cleanup, { env: { BROKER_ENCRYPTION_MODE: 'local_key' } })
    ada = await owner(daemon)
    await connect(ada, 'anthropic', KEY)
  })

  async function startRun(grants: object = {}): Promise<StartedRun> {
    const key = generateSigningKey()
    const { status, body } = await ada.call('POST', '/api/runs', { did: key.did, ...grants })
    assert.equal(status, 201)
    return { id: body.run_id, key, caller: ada }
  }

  function proofOf(key: SigningKey, path: string): string {
    return `PoP ${mintProof(key, { handle: 'ada', method: 'GET', url: daemon.origin + path, body: Buffer.alloc(0) })}`
  }

  /** Asks for a channel; what comes back before frames, and the frames. */
  async function ask(path: string, headers: Readonly<Record<string, string>>) {
    const socket = connectTcp(daemon.port, '127.0.0.1')
    cleanup.after(() => socket.destroy())
    const lines = Object.entries({ host: `127.0.0.1:${daemon.port}`, ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    let text = ''
    for (;;) {
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      text += chunk.toString('latin1')
      if (text.includes('\r\n\r\n')) break
    }
    return { socket, status: Number(text.split(' ')[1]), text, frames: framesOf(socket) }
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape.
  async function* framesOf(socket: Socket): AsyncGenerator<{ kind: Frame['kind']; number: number; body: any }> {
    const reader = new FrameReader()
    for await (const chunk of socket) {
      for (const { kind, number, body } of reader.read(chunk as Buffer)) {
        yield { kind, number, body: body.length === 0 ? undefined : JSON.parse(body.toString()) }
      }
    }
  }

  async function channelOf({ id, key }: StartedRun) {
    const path = `/api/runs/${id}/channel`
    const opened = await ask(path, { ...UPGRADE, authorization: proofOf(key, path) })
    assert.equal(opened.status, 101, opened.text)
    const next = async () => (await opened.frames.next()).value
    return { ...opened, next }
  }

  it('answers questions with the number of what left, each decided when it is asked', async () => {
    const run = await startRun()
    const { socket, next } = await channelOf(run)
    const question = { host: HOST, port: 443, method: 'POST', path: '/v1/messages' }
    socket.write(
      Buffer.concat([encodeFrame('question', 7, question), encodeFrame('question', 8, { ...question, count: 3 })]),
    )
    const answers = [await next(), await next()].sort((one, other) => one.number - other.number)
    assert.deepEqual(
      answers.map(({ kind, number }) => [kind, number]),
      [
        ['answer', 7],
        ['answer', 8],
      ],
    )
    assert.deepEqual(answers[0]?.body.places, [
      { in: 'header', name: 'x-api-key', value: KEY },
      ...answers[0].body.places.slice(1),
    ])
    assert.equal(answers[1]?.body.release, answers[0]?.body.release + 1)

    await ada.call('POST', '/api/connections/anthropic/default/logout')
    assert.equal((await next()).kind, 'changed')
    socket.write(encodeFrame('question', 9, question))
    const refused = await next()
    assert.deepEqual([refused.kind, refused.number, refused.body.body.error], ['refusal', 9, 'ConnectionNotFoundError'])
    await connect(ada, 'anthropic', KEY)
  })

  it('is refused to whoever is not that run', async () => {
    const [one, other] = [await startRun(), await startRun()]
    const path = `/api/runs/${one.id}/channel`
    const cases = [
      ['nobody', {}, 401],
      ['an agent, for its own run', { authorization: proofOf(ada.key, path) }, 404],
      ['another run', { authorization: proofOf(other.key, path) }, 404],
      ['a proof for another path', { authorization: proofOf(one.key, `/api/runs/${other.id}/channel`) }, 401],
      ['a page of another site', { authorization: proofOf(one.key, path), origin: 'https://evil.example' }, 403],
      ['a body', { authorization: proofOf(one.key, path), 'content-length': '2' }, 400],
    ] as const
    for (const [who, headers, status] of cases) {
      const answer = await ask(path, { ...UPGRADE, ...headers })
      assert.equal(answer.status, status, `${who}: ${answer.text}`)
      assert.match(answer.text, /"error"/)
    }
    const proof = proofOf(one.key, path)
    assert.equal((await ask(path, { ...UPGRADE, authorization: proof })).status, 101)
    assert.equal((await ask(path, { ...UPGRADE, authorization: proof })).status, 401, 'a proof is good once')
  })

  it('is no page, and no other protocol is switched to anywhere', async () => {
    const { id, key } = await startRun()
    const path = `/api/runs/${id}/channel`
    const page = await ask(path, { authorization: proofOf(key, path) })
    assert.equal(page.status, 426)
    assert.match(page.text, /^upgrade: broker-channel\/1\r$/im)
    assert.equal((await ask('/api/health', { connection: 'Upgrade', upgrade: 'h2c' })).status, 200)
    assert.equal((await ask('/api/health', UPGRADE)).status, 404)
  })

  it('ends where the run has ended, and what it says then is refused', async () => {
    const run = await startRun()
    const { socket, next } = await channelOf(run)
    await ada.call('POST', `/api/runs/${run.id}/end`, { exit_code: 0 })
    socket.write(encodeFrame('question', 1, { host: HOST, port: 443 }))
    let frame = await next()
    if (frame.kind === 'changed') frame = await next()
    assert.deepEqual(
      [frame.kind, frame.body.status, frame.body.body.error],
      ['refusal', 401, 'AuthenticationFailedError'],
    )
    assert.equal(await next(), undefined)
  })

  it('is closed to bytes that are no frames, and a frame that says nothing is refused alone', async () => {
    const { socket, next } = await channelOf(await startRun())
    socket.write(encodeFrame('question', 1, { host: 5 }))
    assert.equal((await next()).body.body.error, 'InvalidRequestError')
    socket.write(encodeFrame('events', 2, { after: 0, events: [] }))
    assert.equal((await next()).body.body.error, 'InvalidRequestError')
    socket.write(Buffer.alloc(9, 0xff))
    assert.equal(await next(), undefined)
  })

  it('tells of events that never came', async () => {
    const run = await startRun()
    const { socket, next } = await channelOf(run)
    const event = (number: number) => ({
      number,
      id: `test-event-${number}`,
      event: 'proxy.request',
      status: 'success',
      provider: 'anthropic',
      connection: 'default',
      request: { method: 'GET', host: HOST, port: 443, path: '/v1/models', status: 200 },
    })
    socket.write(encodeFrame('events', 1, { after: 0, events: [event(1), event(2)] }))
    assert.equal((await next()).kind, 'stored')
    socket.write(encodeFrame('events', 2, { after: 2, events: [event(2), event(6)] }))
    assert.equal((await next()).kind, 'stored')
    const { body } = await ada.call('GET', '/api/audit/events?event=audit.gap')
    assert.deepEqual(
      body.events.map(({ run_id, from, to, count }: Record<string, unknown>) => ({ run_id, from, to, count })),
      [{ run_id: run.id, from: '3', to: '5', count: 3 }],
    )
    const shipped = await ada.call('GET', '/api/audit/events?event=proxy.request')
    assert.equal(shipped.body.events.length, 3)
  })

  it('stores no event of a request with what the run was not granted, and when the others came', async () => {
    const run = await startRun({ only: ['anthropic'], connections: { anthropic: 'default' } })
    const { socket, next } = await channelOf(run)
    const request = { method: 'GET', host: HOST, port: 443, path: '/v1/models', status: 200 }
    const common = { number: 1, event: 'proxy.request', status: 'success', request }
    for (const what of [{ provider: 'openai' }, { provider: 'anthropic', connection: 'work' }]) {
      socket.write(encodeFrame('events', 1, { after: 0, events: [{ ...common, id: 'forged-event', ...what }] }))
      const { body } = await next()
      assert.equal(body.body.error, 'InvalidRequestError')
      assert.match(body.body.details[0].message, /not granted/)
    }
    const timestamp = '2020-01-01T00:00:00.000Z'
    const honest = { ...common, id: 'honest-event', provider: 'anthropic', connection: 'default', timestamp }
    socket.write(encodeFrame('events', 2, { after: 0, events: [honest] }))
    assert.equal((await next()).kind, 'stored')
    const [stored] = (await ada.call('GET', '/api/audit/events?event=proxy.request')).body.events
    assert.equal(stored.run_id, run.id)
    const received = Date.parse(stored.received_at)
    assert.ok(Math.abs(Date.now() - received) < 60_000)
    assert.equal(received - Date.parse(stored.timestamp), 24 * 60 * 60 * 1000, 'no sender is believed further back')
  })

  it('serves the client of a run, which finds it again after a restart of the daemon', async () => {
    const run = await startRun()
    const client = new DaemonClient({
      baseUrl: daemon.origin,
      signer: { handle: 'ada', key: run.key },
      check: () => undefined,
    })
    const { promise: changed, resolve: onChanged } = Promise.withResolvers<void>()
    const channel = client.channel(run.id, onChanged)
    const question = { host: HOST, port: 443, method: 'GET', path: '/v1/models' }
    assert.equal((await channel.resolve(question)).provider, 'anthropic')
    await daemon.stop()
    await assert.rejects(channel.resolve(question), { name: 'DaemonUnavailableError' })
    const again = await startDaemon(cleanup, {
      home: daemon.home,
      env: { BROKER_ENCRYPTION_MODE: 'local_key', BROKER_PORT: String(daemon.port) },
    })
    assert.equal((await channel.resolve(question)).provider, 'anthropic')
    await ada.call('POST', '/api/connections/anthropic/default/default')
    await changed
    channel.close()
    client.close()
    assert.equal(await again.stop(), 0)
  })
})
