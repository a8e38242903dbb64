import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { beforeEach, describe, it } from 'node:test'
import { type StreamOptions, streamAnswer } from './stream-answer.ts'

describe('an answer that is made while it is sent', () => {
  let port: number
  let chunks: () => AsyncIterable<string>
  let options: Partial<StreamOptions>
  let isEnded: Promise<unknown>
  let failures: unknown[]

  beforeEach(async (t) => {
    assert.ok('after' in t)
    options = {}
    failures = []
    const server = createServer((_, response: ServerResponse) => {
      isEnded = once(response, 'close')
      const all = {
        signal: new AbortController().signal,
        onFailure: (error: unknown) => failures.push(error),
        ...options,
      }
      streamAnswer(response, { headers: { 'content-type': 'text/plain' }, chunks }, all).catch(() =>
        response.writeHead(503).end(),
      )
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
  })

  const ask = (method = 'GET') => fetch(`http://127.0.0.1:${port}/`, { method })

  it('says with its status what goes wrong at once, and only later breaks off', async () => {
    const broken = async function* (before: readonly string[]) {
      yield* before
      throw new Error('the store is away')
    }
    chunks = () => broken([])
    assert.equal((await ask()).status, 503)
    chunks = () => broken(['one'])
    const cut = await ask()
    assert.equal(cut.status, 200)
    await assert.rejects(cut.text())
    assert.deepEqual(
      failures.map((error) => error instanceof Error && error.message),
      ['the store is away'],
    )
  })

  it('makes nothing for who asks for its head', async () => {
    let made = 0
    chunks = async function* () {
      made += 1
      yield 'one'
    }
    assert.equal((await ask('HEAD')).status, 200)
    assert.equal(made, 0)
  })

  it('is not kept for a reader that takes nothing, and lets go of what it was made of', async () => {
    options = { patience: 200 }
    let isOver = () => {}
    const over = new Promise<void>((resolve) => (isOver = resolve))
    chunks = async function* () {
      try {
        for (;;) yield 'x'.repeat(100_000)
      } finally {
        isOver()
      }
    }
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await over
    await isEnded
    socket.destroy()
    assert.deepEqual(failures, [])
  })

  it('ends with its signal, be that given already', async () => {
    options = { signal: AbortSignal.abort() }
    let isOver = () => {}
    const over = new Promise<void>((resolve) => (isOver = resolve))
    chunks = async function* () {
      try {
        for (;;) yield 'x'
      } finally {
        isOver()
      }
    }
    await assert.rejects(ask().then((answer) => answer.text()))
    await over
    assert.deepEqual(failures, [])
  })
})
