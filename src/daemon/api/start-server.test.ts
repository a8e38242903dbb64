import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { SourceLimits } from './source-limits.ts'
import { reservePort, startServer } from './start-server.ts'

const HOST = '127.0.0.1'

describe('a daemon that takes any free port', () => {
  it('has it from the moment that it knows it, whoever else looks for one', async (t) => {
    const reserved = await reservePort(HOST)
    t.after(() => reserved.holder.close())
    const other = createServer().listen(reserved.port, HOST)
    const [error] = await once(other, 'error')
    assert.equal(error.code, 'EADDRINUSE')
  })

  it('answers there, and lets it go at its end', async () => {
    const reserved = await reservePort(HOST)
    const origin = `http://${HOST}:${reserved.port}`
    const server = await startServer(
      {
        routes: [],
        principals: undefined as never,
        accounts: undefined as never,
        own: { authorities: new Set([`${HOST}:${reserved.port}`]), origins: [origin] },
        isSecure: false,
        now: Date.now,
        keys: { requireOpen: () => undefined, used: () => undefined },
        limits: new SourceLimits(),
        channels: { accept: async () => undefined },
        sourceOf: () => HOST,
        onRequest: () => undefined,
        onFailure: (_, error) => assert.ifError(error),
      },
      [HOST],
      reserved,
    )
    const { status } = await fetch(`${origin}/api/nothing`, { headers: { connection: 'close' } })
    assert.equal(status, 404)
    await server.stop(1_000)
    const next = createServer().listen(reserved.port, HOST)
    await once(next, 'listening')
    next.close()
  })
})
