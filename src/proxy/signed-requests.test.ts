import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { type AccessKey, type TakenRequest, takeRequest } from '../../test/aws-service.ts'
import { credentialRequest } from '../daemon/credentials/credential-request.ts'
import { signedResolution } from '../daemon/credentials/signed-resolution.ts'
import { Secret } from '../protocol/index.ts'
import { resolveRequest } from '../schemas/index.ts'
import { answerOn, openSession } from './http2.fixture.ts'
import { type Client, daemon, openTls, resolution, route, stage, tlsOrigin } from './test-stage.ts'
import { createCertificateAuthority } from './tls/certificate-authority.ts'

const authority = createCertificateAuthority(['*.amazonaws.com'], new Date())
const KEY: AccessKey = { accessKeyId: 'AKIACNRY00000001', secretAccessKey: 'CNRYsecret/access+key' }
const S3 = 'bucket.s3.eu-west-1.amazonaws.com'
const STS = 'sts.eu-west-1.amazonaws.com'
const DYNAMODB = 'dynamodb.eu-west-1.amazonaws.com'
const HOSTS = [S3, STS, DYNAMODB]

/** What arrived, byte by byte. */
class Wire {
  text = ''
  #wake = () => {}

  add(chunk: Buffer): void {
    if (this.text.length < 1_048_576) this.text += chunk.toString('latin1')
    this.#wake()
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

/** Services of AWS behind a proxy, and the part of the daemon that signs. */
async function signingStage(t: TestContext, key: AccessKey = KEY) {
  const taken: TakenRequest[] = []
  const wire = new Wire()
  const service = createServer(async (request, response) => {
    const one = await takeRequest(request, key)
    taken.push(one)
    const answer = one.problem ?? 'signed'
    response.writeHead(one.problem === undefined ? 200 : 403, { 'content-length': answer.length }).end(answer)
  })
  const origin = await tlsOrigin(
    t,
    (socket) => {
      service.emit('connection', socket)
      socket.on('data', (chunk: Buffer) => wire.add(chunk))
    },
    authority,
  )
  const { accessKeyId, secretAccessKey, sessionToken } = key
  const used = {
    provider: 'aws',
    connection: 'default',
    scopes: [],
    refreshable: false,
    version: 1,
    credential: {
      kind: 'signing',
      fields: {
        access_key_id: new Secret(accessKeyId),
        secret_access_key: new Secret(secretAccessKey),
        ...(sessionToken !== undefined && { session_token: new Secret(sessionToken) }),
      },
    },
  } as const
  const fake = daemon()
  fake.resolve = (asked) => {
    const request = credentialRequest(resolveRequest.parse(asked))
    return Promise.try(() => signedResolution({ used, request }, Date.now()))
  }
  const { proxy } = await stage(t, Object.fromEntries(HOSTS.map((host) => [host, origin])), {
    daemon: fake,
    upstreamCa: [authority.caPem],
    route: HOSTS.map((host) => route(host, { signs: true })),
  })
  const open = (host: string) => openTls(t, proxy, host)
  return { taken, open, proxy, daemon: fake, wire }
}

/** What a client sends that was given a placeholder for a key. */
function scoped(service: string, region = 'eu-west-1'): string {
  return `Authorization: AWS4-HMAC-SHA256 Credential=broker-proxy-managed/20261121/${region}/${service}/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}\r\nX-Amz-Date: 20261121T000000Z\r\n`
}

const ANSWERED = /\r\n\r\n(?:signed|\{.*\}|.+)$/s

async function exchange(client: Client, request: string): Promise<string> {
  client.clear()
  client.send(request)
  return client.until(ANSWERED)
}

describe('a request that is signed', { timeout: 30_000 }, () => {
  const REQUESTS: readonly (readonly [what: string, host: string, request: string, service: string])[] = [
    ['a plain GET', STS, 'GET / HTTP/1.1', 'sts'],
    ['a query in no order, with values, empty, repeated', STS, 'GET /?b=2&a=%2F1&b=1&c&a=%20x%7E HTTP/1.1', 'sts'],
    ['a path with escapes', STS, 'GET /model/a%3Ab%20c/invoke HTTP/1.1', 'sts'],
    ['a path with what has no need of escapes', STS, "GET /a!b'c(d)e*f:g@h$i,j;k=l HTTP/1.1", 'sts'],
    ['a path with steps and doubled slashes', STS, 'GET //a/./b/../c// HTTP/1.1', 'sts'],
    ['a key of S3 with escapes', S3, 'GET /a%20b/%C3%A4%2Bc/d%25e~ HTTP/1.1', 's3'],
    ['a key of S3 with steps and doubled slashes', S3, 'GET //a/./b/../c// HTTP/1.1', 's3'],
    ['a list of S3', S3, 'GET /?list-type=2&prefix=a%2Fb&delimiter=%2F HTTP/1.1', 's3'],
    ['DELETE with metadata', S3, 'DELETE /k HTTP/1.1\r\nX-Amz-Meta-A:   b   c \r\nx-amz-meta-a: d', 's3'],
  ]
  for (const [what, host, request, service] of REQUESTS)
    it(`is what AWS expects: ${what}`, async (t) => {
      const { open, taken } = await signingStage(t)
      const client = await open(host)
      assert.match(await exchange(client, `${request}\r\nHost: ${host}\r\n${scoped(service)}\r\n`), /signed$/)
      const unsigned = await exchange(client, `${request}\r\nHost: ${host}\r\n\r\n`)
      assert.match(unsigned, /signed$/, 'also where the child signs nothing at all')
      assert.equal(taken[0]?.url, request.split(' ')[1])
    })

  it('has the session token of the key, and none of the child', async (t) => {
    const own = { ...KEY, sessionToken: 'CNRYsession' }
    const withToken = await signingStage(t, own)
    const request = `GET / HTTP/1.1\r\nHost: ${STS}\r\nX-Amz-Security-Token: child\r\n${scoped('sts')}\r\n`
    assert.match(await exchange(await withToken.open(STS), request), /signed$/)
    assert.doesNotMatch(JSON.stringify(withToken.daemon.asked), /child/)

    const without = await signingStage(t)
    assert.match(await exchange(await without.open(STS), request), /signed$/)
    assert.doesNotMatch(without.wire.text, /security-token/i)
  })

  it('comes of a child that speaks HTTP/2 as well, with its body', async (t) => {
    const { proxy, taken } = await signingStage(t)
    const session = await openSession(t, proxy, DYNAMODB)
    const stream = session.request({ ':method': 'POST', ':path': '/', 'content-type': 'application/x-amz-json-1.0' })
    stream.end('{"a":1}')
    const { status, body } = await answerOn(stream)
    assert.deepEqual([status, body], [200, 'signed'])
    assert.equal(taken[0]?.body.toString(), '{"a":1}')
  })

  it('keeps its body as it is where the child has hashed it', async (t) => {
    const { open, taken } = await signingStage(t)
    const hash = createHash('sha256').update('body').digest('hex')
    const put = `PUT /k HTTP/1.1\r\nHost: ${S3}\r\nContent-Length: 4\r\nX-Amz-Content-Sha256: ${hash}\r\n${scoped('s3')}\r\nbody`
    const client = await open(S3)
    assert.match(await exchange(client, put), /signed$/)
    assert.match(await exchange(client, put.replace('body', 'BODY')), /XAmzContentSHA256Mismatch$/)
    assert.equal(taken[0]?.body.toString(), 'body')
  })

  it('passes a body of S3 that nobody hashed, and one with a checksum behind it', async (t) => {
    const { open, taken } = await signingStage(t)
    const client = await open(S3)
    assert.match(await exchange(client, `PUT /k HTTP/1.1\r\nHost: ${S3}\r\nContent-Length: 4\r\n\r\nbody`), /signed$/)
    const chunks = '4\r\nbody\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n'
    const put =
      `PUT /k HTTP/1.1\r\nHost: ${S3}\r\nContent-Length: ${chunks.length}\r\nContent-Encoding: aws-chunked\r\n` +
      `X-Amz-Content-Sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\nX-Amz-Decoded-Content-Length: 4\r\n` +
      `X-Amz-Trailer: x-amz-checksum-crc32\r\n${scoped('s3')}\r\n${chunks}`
    assert.match(await exchange(client, put), /signed$/)
    assert.equal(taken[0]?.headers['x-amz-content-sha256'], 'UNSIGNED-PAYLOAD')
    assert.equal(taken[1]?.body.toString(), chunks)
  })

  for (const framing of ['length', 'chunked'] as const)
    it(`is hashed before it is sent where its service wants that: ${framing}`, async (t) => {
      const { open, proxy, taken, daemon: asked } = await signingStage(t)
      const client = await open(DYNAMODB)
      const frame = framing === 'length' ? 'Content-Length: 14' : 'Transfer-Encoding: chunked'
      client.send(
        `POST / HTTP/1.1\r\nHost: ${DYNAMODB}\r\n${frame}\r\nExpect: 100-continue\r\nX-Amz-Target: DynamoDB.PutItem\r\n${scoped('dynamodb')}\r\n`,
      )
      await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/)
      assert.equal(asked.asked.length, 0)
      client.clear()
      client.send(framing === 'length' ? '{"Item":' : '8\r\n{"Item":\r\n')
      client.send(framing === 'length' ? '{"a":1' : '6;x=y\r\n{"a":1\r\n0\r\n\r\n')
      assert.match(await client.until(ANSWERED), /signed$/)
      assert.equal(taken[0]?.body.toString(), '{"Item":{"a":1')
      assert.equal(taken[0]?.headers.expect, undefined)
      assert.match(
        await exchange(client, `GET / HTTP/1.1\r\nHost: ${DYNAMODB}\r\n\r\n`),
        /signed$/,
        'the connection goes on',
      )
      await proxy.flush()
      assert.equal(asked.events[0]?.request?.bytes_out, framing === 'length' ? 14 : 33)
    })

  it('is refused where it is too long to be hashed, before anything is asked', async (t) => {
    const { open, taken, daemon: asked } = await signingStage(t)
    const length = 33 * 1024 * 1024
    const answer = await exchange(
      await open(DYNAMODB),
      `POST / HTTP/1.1\r\nHost: ${DYNAMODB}\r\nContent-Length: ${length}\r\n${scoped('dynamodb')}\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 413 .*X-Broker-Error: InvalidRequestError.*body_too_long_to_sign/s)
    assert.deepEqual([taken.length, asked.asked.length], [0, 0])
  })

  for (const [what, frame] of [
    ['with a length', (chunks: Buffer) => ({ header: `Content-Length: ${chunks.length}`, body: chunks })],
    [
      'in chunks of the connection',
      (chunks: Buffer) => ({
        header: 'Transfer-Encoding: chunked',
        body: Buffer.concat([
          Buffer.from(`${(5).toString(16)}\r\n`),
          chunks.subarray(0, 5),
          Buffer.from(`\r\n${(chunks.length - 5).toString(16)}\r\n`),
          chunks.subarray(5),
          Buffer.from('\r\n0\r\n\r\n'),
        ]),
      }),
    ],
  ] as const)
    it(`arrives as the object itself where the child has signed its chunks: ${what}`, async (t) => {
      const { open, taken } = await signingStage(t)
      const object = randomBytes(5 * 1024 * 1024)
      const { header, body } = frame(awsChunks(object, 'x-amz-checksum-crc32:AAAAAA==\r\n'))
      const client = await open(S3)
      client.send(
        `PUT /k HTTP/1.1\r\nHost: ${S3}\r\n${header}\r\nContent-Encoding: gzip,aws-chunked\r\n` +
          `X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER\r\nX-Amz-Trailer: x-amz-checksum-crc32\r\n` +
          `X-Amz-Sdk-Checksum-Algorithm: CRC32\r\nX-Amz-Decoded-Content-Length: ${object.length}\r\n${scoped('s3')}\r\n`,
      )
      client.socket.write(body)
      assert.match(await client.until(ANSWERED), /signed$/)
      const [one] = taken
      assert.ok(one)
      assert.ok(one.body.equals(object))
      assert.equal(one.headers['content-length'], String(object.length))
      assert.equal(one.headers['content-encoding'], 'gzip')
      assert.equal(one.headers['x-amz-content-sha256'], 'UNSIGNED-PAYLOAD')
      for (const gone of ['x-amz-trailer', 'x-amz-sdk-checksum-algorithm', 'x-amz-decoded-content-length'])
        assert.equal(one.headers[gone], undefined)
      assert.match(await exchange(client, `GET /k HTTP/1.1\r\nHost: ${S3}\r\n\r\n`), /signed$/)
    })

  it('streams while its chunks are taken apart: the object goes on before it has ended', async (t) => {
    const { open, wire } = await signingStage(t)
    const client = await open(S3)
    const [first, second] = [awsChunk(Buffer.from('first')), awsChunk(Buffer.from('second'))]
    const last = awsChunk(Buffer.alloc(0), '\r\n')
    const length = first.length + second.length + last.length
    client.send(
      `PUT /k HTTP/1.1\r\nHost: ${S3}\r\nContent-Length: ${length}\r\nContent-Encoding: aws-chunked\r\n` +
        `X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\nX-Amz-Decoded-Content-Length: 11\r\n${scoped('s3')}\r\n`,
    )
    client.socket.write(first)
    await wire.until(/\r\n\r\nfirst$/)
    client.socket.write(Buffer.concat([second, last]))
    assert.match(await client.until(ANSWERED), /signed$/)
    assert.match(wire.text, /\r\n\r\nfirstsecond$/)
  })

  for (const [what, chunks, announced] of [
    ['longer than announced', Buffer.concat([awsChunk(Buffer.from('12345')), awsChunk(Buffer.alloc(0), '\r\n')]), 4],
    ['shorter than announced', Buffer.concat([awsChunk(Buffer.from('12345')), awsChunk(Buffer.alloc(0), '\r\n')]), 6],
    ['with something behind its end', Buffer.concat([awsChunk(Buffer.alloc(0), '\r\n'), Buffer.from('GET /')]), 0],
    ['with a size that is none', Buffer.from('zz;chunk-signature=0\r\n'), 4],
    ['without an end', awsChunk(Buffer.from('1234')), 4],
  ] as const)
    it(`is refused where the object in its chunks is ${what}`, async (t) => {
      const { open, taken } = await signingStage(t)
      const client = await open(S3)
      client.send(
        `PUT /k HTTP/1.1\r\nHost: ${S3}\r\nContent-Length: ${chunks.length}\r\nX-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\n` +
          `X-Amz-Decoded-Content-Length: ${announced}\r\n${scoped('s3')}\r\n`,
      )
      client.socket.write(chunks)
      assert.match(await client.untilClosed(), /^HTTP\/1\.1 400 .*malformed_body/s)
      assert.equal(taken.length, 0)
    })

  for (const [what, header, status, reason] of [
    ['for several regions', 'Authorization: AWS4-ECDSA-P256-SHA256 Credential=a', 400, 'sigv4a'],
    ['event by event', 'X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-EVENTS', 400, 'payload_not_signable'],
    [
      'in chunks of an object without a length',
      'X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      411,
      'decoded_length_wanted',
    ],
  ] as const)
    it(`is refused where the child signs it ${what}`, async (t) => {
      const { open, taken } = await signingStage(t)
      const answer = await exchange(await open(S3), `PUT /k HTTP/1.1\r\nHost: ${S3}\r\n${header}\r\n\r\n`)
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} .*"reason":"${reason}"`, 's'))
      assert.equal(taken.length, 0)
    })

  it('stays as it is where somebody else has signed its query', async (t) => {
    const { open, daemon: asked, wire } = await signingStage(t)
    const link = `GET /k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=${'a'.repeat(64)} HTTP/1.1\r\nHost: ${S3}\r\nX-Amz-Meta: b\r\n\r\n`
    await exchange(await open(S3), link)
    assert.equal(asked.asked.length, 0)
    assert.equal(wire.text, link)
  })

  it('is asked about alone, however many are alike', async (t) => {
    const { open, daemon: asked, taken } = await signingStage(t)
    const clients = await Promise.all([open(STS), open(STS), open(STS)])
    const answers = await Promise.all(
      clients.map((client) => exchange(client, `GET / HTTP/1.1\r\nHost: ${STS}\r\n\r\n`)),
    )
    assert.ok(answers.every((answer) => answer.endsWith('signed')))
    assert.deepEqual([asked.asked.length, taken.length], [3, 3])
  })

  it('is not signed for another host than the one it goes to', async (t) => {
    const { daemon: asked } = await signingStage(t)
    const question = (host: string) =>
      asked.resolve({
        host: STS,
        method: 'GET',
        path: '/',
        sign: { payload: 'UNSIGNED-PAYLOAD', headers: [{ name: 'Host', value: host }] },
      })
    await assert.rejects(question('iam.amazonaws.com'), { name: 'InvalidRequestError' })
    assert.ok((await question(STS.toUpperCase())).places.some(({ name }) => name === 'Authorization'))
    assert.throws(() => question(`${STS}\nhost:iam.amazonaws.com`), { name: 'ZodError' })
  })

  it('is left to the other form where the connection turns out to hold a key that is sent', async (t) => {
    const { open, daemon: fake, wire } = await signingStage(t)
    fake.resolve = async () => resolution()
    await exchange(await open(DYNAMODB), `POST / HTTP/1.1\r\nHost: ${DYNAMODB}\r\nContent-Length: 2\r\n\r\n{}`)
    assert.match(wire.text, /Authorization: Bearer sk-CNRY.*\r\n\r\n\{\}$/s)
  })
})

function awsChunk(data: Buffer, behind = ''): Buffer {
  return Buffer.concat([
    Buffer.from(`${data.length.toString(16)};chunk-signature=${'0'.repeat(64)}\r\n`),
    data,
    Buffer.from(data.length === 0 ? behind : '\r\n'),
  ])
}

function awsChunks(object: Buffer, trailers: string): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < object.length; at += 65_536) chunks.push(awsChunk(object.subarray(at, at + 65_536)))
  return Buffer.concat([...chunks, awsChunk(Buffer.alloc(0), `${trailers}x-amz-trailer-signature:0\r\n\r\n`)])
}
