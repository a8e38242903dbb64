import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type Client, openTls, stage, tlsOrigin } from './test-stage.ts'

/** Random pipelines in random pieces, read by Node's own HTTP server behind the proxy: it must see just what was meant. */

const HOST = 'api.prov.test'

interface Sent {
  readonly method: 'GET' | 'PUT'
  readonly body: readonly string[]
  readonly framing: 'none' | 'length' | 'chunked'
  readonly answer: 'early' | 'late'
}

// Bodies that would be requests, if ever they were read as such.
const bodyPart = fc.constantFrom(
  'x',
  '\r\n',
  '0\r\n\r\n',
  `GET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`,
  'y'.repeat(3000),
)

const sent: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom('GET', 'PUT'),
  body: fc.array(bodyPart, { maxLength: 3 }),
  framing: fc.constantFrom('none', 'length', 'chunked'),
  answer: fc.constantFrom('early', 'late'),
})

const bodyOf = ({ framing, body }: Sent) => (framing === 'none' ? '' : body.join(''))

function textOf(request: Sent, index: number, run: number): string {
  const { method, body, framing, answer } = request
  const head = `${method} /${run}/${index}?${answer} HTTP/1.1\r\nHost: ${HOST}\r\n`
  if (framing === 'none') return `${head}\r\n`
  if (framing === 'length') return `${head}Content-Length: ${bodyOf(request).length}\r\n\r\n${bodyOf(request)}`
  const chunks = body.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\nX-Sum: 1\r\n\r\n`
}

async function recordingWorld(t: TestContext) {
  const seen = new Map<string, string>()
  let wake = () => {}
  const server = createServer(async (request, response) => {
    const answer = () => response.end(`<${request.url?.split('?', 1)[0]}>`)
    const early = request.url?.endsWith('early')
    if (early) answer()
    let body = ''
    for await (const chunk of request) body += chunk
    const key = request.url ?? ''
    seen.set(
      seen.has(key) ? `${key} again` : key,
      `${request.method} ${request.headers.authorization?.slice(0, 6)} ${body}`,
    )
    wake()
    if (!early) answer()
  })
  const origin = await tlsOrigin(t, (socket) => server.emit('connection', socket))
  /** What was read of one run, once `count` requests were. */
  const untilSeen = async (run: number, count: number) => {
    const ofRun = () => [...seen].filter(([url]) => url.startsWith(`/${run}/`))
    while (ofRun().length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    return ofRun().toSorted()
  }
  return { untilSeen, ...(await stage(t, { [HOST]: origin })) }
}

async function sendInPieces(client: Client, text: string, cuts: readonly number[]): Promise<void> {
  const edges = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b)
  let start = 0
  for (const edge of [...edges, text.length]) {
    client.send(text.slice(start, edge))
    start = edge
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('a service reads exactly the requests that the child meant, each with its credential', async (t) => {
  const { untilSeen, proxy } = await recordingWorld(t)
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(10_000), { maxLength: 8 }),
      async (requests, cuts) => {
        run += 1
        const client = await openTls(t, proxy, HOST)
        await sendInPieces(client, requests.map((one, index) => textOf(one, index, run)).join(''), cuts)
        const text = await client.until(
          (all) => all.split('HTTP/1.1 200').length > requests.length && all.endsWith('>'),
        )
        client.socket.destroy()
        assert.deepEqual(
          text.match(/<\/\d+\/\d+>/g),
          requests.map((_, index) => `</${run}/${index}>`),
        )
        const meant = requests.map((one, index) => [
          `/${run}/${index}?${one.answer}`,
          `${one.method} Bearer ${bodyOf(one)}`,
        ])
        assert.deepEqual(await untilSeen(run, requests.length), meant.toSorted())
      },
    ),
    { numRuns: 150, interruptAfterTimeLimit: 10_000 },
  )
})
