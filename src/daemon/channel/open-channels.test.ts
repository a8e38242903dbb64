import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { type Actor, encodeFrame } from '../../protocol/index.ts'
import { openChannels } from './open-channels.ts'

const RUN = {
  kind: 'run',
  identity: 'ada',
  identityId: 'ada-id',
  did: 'did:key:zrun',
  principalId: 'ada',
  vaultId: 'vault',
  role: 'user',
  run: { id: 'run-1', connections: {} },
} as const satisfies Actor

/** The two ends of a connection. */
async function pair(t: TestContext): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const far = connect(typeof address === 'object' ? (address?.port ?? 0) : 0, '127.0.0.1')
  const [near] = (await once(server, 'connection')) as [Socket]
  for (const socket of [near, far]) socket.on('error', () => undefined)
  t.after(() => {
    far.destroy()
    near.destroy()
    server.close()
  })
  return { near, far }
}

/** Channels whose runs nobody stores: what was noted of them, and when it was looked for lost ones. */
function stage(
  t: TestContext,
  times: { readonly beatMs: number; readonly graceMs?: number; readonly lookMs?: number },
) {
  const noted: (readonly string[])[] = []
  const looked = Promise.withResolvers<ReadonlySet<string>>()
  const answering = Promise.withResolvers<never>()
  const channels = openChannels({
    ...times,
    releases: { release: () => answering.promise },
    audit: { append: async () => undefined, recordAhead: async () => undefined },
    principals: {
      ofRun: async () => RUN,
      noteChannels: async (ids) => void noted.push(ids),
      endLostRuns: async (held) => looked.resolve(held),
    },
    refusalOf: () => ({ status: 500, body: { error: 'InternalError', message: 'no', request_id: '1' }, headers: {} }),
    onFailure: (error) => assert.ifError(error),
  })
  t.after(() => channels.close())
  return { channels, noted, looked, answering }
}

describe('channels', { timeout: 30_000 }, () => {
  it('let go of a run that answers no beat, and keep one that does', async (t) => {
    const { channels } = stage(t, { beatMs: 100 })
    const [silent, lively] = [await pair(t), await pair(t)]
    silent.far.resume()
    let answered = 0
    lively.far.on('data', () => {
      answered += 1
      lively.far.write(encodeFrame('beat', 0))
    })
    for (const { near } of [silent, lively])
      await channels.accept(RUN, 'run-1', { socket: near, head: Buffer.alloc(0) })
    await once(silent.far, 'close')
    const before = answered
    while (answered < before + 3) await once(lively.far, 'data')
    assert.equal(lively.near.destroyed, false)
  })

  it('are noted when they begin, with each beat, and when they end', async (t) => {
    const { channels, noted } = stage(t, { beatMs: 1e6 })
    const { near, far } = await pair(t)
    await channels.accept(RUN, 'run-1', { socket: near, head: Buffer.alloc(0) })
    assert.deepEqual(noted, [['run-1']])
    const closed = new Promise((resolve) => near.once('close', resolve))
    far.destroy()
    await closed
    assert.deepEqual(noted, [['run-1'], ['run-1']])
  })

  it('look for runs that were lost once those of before had time to come back', async (t) => {
    const { channels, looked } = stage(t, { beatMs: 1e6, graceMs: 10, lookMs: 10 })
    const { near } = await pair(t)
    await channels.accept(RUN, 'run-1', { socket: near, head: Buffer.alloc(0) })
    assert.deepEqual(await looked.promise, new Set(['run-1']))
  })

  it('answer what was asked before they end, whether or not the other end lets go', async (t) => {
    const { channels, answering } = stage(t, { beatMs: 1e6 })
    const { near, far } = await pair(t)
    await channels.accept(RUN, 'run-1', {
      socket: near,
      head: encodeFrame('question', 1, { host: 'api.acme.test', port: 443 }),
    })
    const closed = channels.close()
    let text = ''
    far.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    const ended = once(far, 'end')
    answering.reject(new Error('no'))
    await closed
    await ended
    assert.match(text, /InternalError/)
    const late = await pair(t)
    await assert.rejects(channels.accept(RUN, 'run-1', { socket: late.near, head: Buffer.alloc(0) }), {
      name: 'DaemonUnavailableError',
    })
  })
})
