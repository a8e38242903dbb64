import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { h2Origin, openOffering } from './http2.fixture.ts'
import {
  block,
  END_HEADERS,
  END_STREAM,
  FrameClient,
  frame,
  PADDED,
  PREFACE,
  setting,
  uint32,
} from './http2-frames.fixture.ts'
import { stage, tlsOrigin } from './test-stage.ts'

/** Random streams in random frames, some of them wrong: what a service sees is what the child sent, or nothing. */

const HOST = 'api.prov.test'

interface Sent {
  readonly body: readonly string[]
  /** How it ends: as it should, by a reset, never, or by less than was said. */
  readonly end: 'whole' | 'trailers' | 'reset' | 'left open' | 'short'
  readonly hasLength: boolean
  /** How many frames the fields are in. */
  readonly blocks: number
  readonly padded: boolean
}

// Bodies that would be requests or frames, if ever they were read as such.
const bodyPart = fc.constantFrom(
  '',
  'x',
  '0\r\n\r\n',
  `GET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`,
  PREFACE.toString('latin1'),
  frame('headers', END_HEADERS | END_STREAM, 9, block([[':path', '/smuggled']])).toString('latin1'),
  'y'.repeat(3_000),
)

const sent: fc.Arbitrary<Sent> = fc.record({
  body: fc.array(bodyPart, { maxLength: 4 }),
  end: fc.constantFrom('whole', 'whole', 'trailers', 'reset', 'left open', 'short'),
  hasLength: fc.boolean(),
  blocks: fc.integer({ min: 1, max: 4 }),
  padded: fc.boolean(),
})

/** Frames that belong to no stream, some of which end the connection. */
const other: fc.Arbitrary<Buffer> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(frame('ping', 0, 0, Buffer.alloc(8)), frame('windowUpdate', 0, 0, uint32(9))),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(frame('settings', 0, 0, setting(0x99, 7)), frame(0x42, 0xff, 7, Buffer.from('z'))),
  },
  { weight: 1, arbitrary: fc.constantFrom(frame('data', 0, 0), frame('continuation', 0, 1), frame('ping', 0, 0)) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 9, maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
)

const wholeOf = ({ body }: Sent) => body.join('')
const isWhole = ({ end, hasLength }: Sent) => end === 'whole' || end === 'trailers' || (end === 'short' && !hasLength)

/** By its length, which is the end of a body in HTTP/1.1. */
const mayBeWhole = (request: Sent) => isWhole(request) || (request.hasLength && request.end !== 'short')

function padding(payload: Buffer, isPadded: boolean): Buffer {
  return isPadded ? Buffer.concat([Buffer.from([2]), payload, Buffer.alloc(2)]) : payload
}

/** Units that stay together: the fields of a stream, and each of its other frames. */
function unitsOf(request: Sent, stream: number, path: string): readonly Buffer[] {
  const { end, hasLength, blocks, padded } = request
  const length = wholeOf(request).length + (end === 'short' ? 1 : 0)
  const fields = block([
    [':method', 'POST'],
    [':scheme', 'https'],
    [':authority', HOST],
    [':path', path],
    ...(hasLength ? [['content-length', String(length)] as const] : []),
  ])
  const size = Math.ceil(fields.length / blocks)
  const parts = Array.from({ length: blocks }, (_, at) => fields.subarray(at * size, (at + 1) * size))
  const flags = (at: number) => (at === blocks - 1 ? END_HEADERS : 0)
  const head = parts.map((part, at) => {
    if (at > 0) return frame('continuation', flags(at), stream, part)
    return frame('headers', flags(at) | (padded ? PADDED : 0), stream, padding(part, padded))
  })
  const data = request.body.map((part) =>
    frame('data', padded ? PADDED : 0, stream, padding(Buffer.from(part, 'latin1'), padded)),
  )
  return [Buffer.concat(head), ...data, ...endOf(end, stream)]
}

function endOf(end: Sent['end'], stream: number): readonly Buffer[] {
  if (end === 'left open') return []
  if (end === 'reset') return [frame('rstStream', 0, stream, uint32(8))]
  if (end !== 'trailers') return [frame('data', END_STREAM, stream)]
  return [frame('headers', END_HEADERS | END_STREAM, stream, block([['x-sum', '1']]))]
}

/** Services of both versions that note what they read to its end. */
async function worlds(t: TestContext) {
  const seen = new Map<string, string[]>()
  const note = (path: string, body: string) => seen.set(path, [...(seen.get(path) ?? []), body])
  const service = await h2Origin(t, (stream, headers) => {
    let body = ''
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1')
    })
    stream.on('end', () => {
      if (stream.closed) return
      note(headers[':path'] ?? '', body)
      stream.respond({ ':status': 200 })
      stream.end(body)
    })
  })
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1')
    })
    request.on('end', () => {
      note(request.url ?? '', body)
      response.end(body)
    })
  })
  const old = await tlsOrigin(t, (socket) => server.emit('connection', socket))
  const both = [service.origin, old].map((origin) => stage(t, { [HOST]: origin }))
  return { seen, proxies: (await Promise.all(both)).map(({ proxy }) => proxy) }
}

test('a service reads exactly the requests that the child sent whole, and none in part', async (t) => {
  const { seen, proxies } = await worlds(t)
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: 6 }),
      fc.array(fc.tuple(other, fc.nat(30)), { maxLength: 3 }),
      fc.infiniteStream(fc.nat(5)),
      fc.constantFrom(...proxies),
      async (requests, others, order, proxy) => {
        run += 1
        const paths = requests.map((_, at) => `/${run}/${at}`)
        const queues = requests.map((one, at) => [...unitsOf(one, at * 2 + 1, paths[at] ?? '')])
        const mixed: Buffer[] = []
        // Streams are opened in their order, and go on in any.
        for (const queue of queues) mixed.push(queue.shift() ?? Buffer.alloc(0))
        while (queues.some(({ length }) => length > 0)) {
          const left = queues.filter(({ length }) => length > 0)
          mixed.push(left[(order.next().value ?? 0) % left.length]?.shift() ?? Buffer.alloc(0))
        }
        for (const [more, at] of others) mixed.splice(at % (mixed.length + 1), 0, more)
        const client = new FrameClient(await openOffering(t, proxy, HOST, ['h2']))
        client.send(PREFACE, frame('settings', 0, 0), ...mixed)
        const isRight = others.every(([more]) => isHarmless(more))
        if (isRight) {
          const whole = requests.flatMap((one, at) => (isWhole(one) ? [at * 2 + 1] : []))
          const outcomes = await Promise.all(whole.map((stream) => client.outcome(stream)))
          assert.deepEqual(
            outcomes,
            whole.map(() => 'answer'),
          )
        } else await client.outcomeAtOnce(1)
        client.socket.destroy()
        for (const [at, path] of paths.entries()) {
          const request = requests[at] ?? assert.fail()
          const bodies = seen.get(path) ?? []
          if (isWhole(request) && isRight) assert.deepEqual(bodies, [wholeOf(request)])
          else assert.ok(bodies.length === 0 || (mayBeWhole(request) && bodies.length === 1), request.end)
          for (const body of bodies) assert.equal(body, wholeOf(request))
        }
      },
    ),
    { numRuns: 200, interruptAfterTimeLimit: 12_000 },
  )
  assert.deepEqual(
    [...seen.keys()].filter((path) => !/^\/\d+\/\d+$/.test(path)),
    [],
  )
})

/** Whether the connection lives on behind it. */
function isHarmless(bytes: Buffer): boolean {
  const type = bytes[3]
  const known = [
    frame('ping', 0, 0, Buffer.alloc(8)),
    frame('windowUpdate', 0, 0, uint32(9)),
    frame('settings', 0, 0, setting(0x99, 7)),
  ]
  return known.some((one) => one.equals(bytes)) || (type === 0x42 && bytes.length === 10)
}
