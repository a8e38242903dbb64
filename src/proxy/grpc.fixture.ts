import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js'
import { CREDENTIAL, tlsOrigin } from './test-stage.ts'

/** A gRPC server of bytes: what it takes it gives back, and it says whether a call carried the credential. */

const bytes = (value: Buffer) => value

function method(name: string, requestStream: boolean, responseStream: boolean): MethodDefinition<Buffer, Buffer> {
  return {
    path: `/test.Echo/${name}`,
    requestStream,
    responseStream,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  }
}

const METHODS = {
  unary: method('Unary', false, false),
  download: method('Download', false, true),
  upload: method('Upload', true, false),
  both: method('Both', true, true),
  fail: method('Fail', false, false),
  hang: method('Hang', false, true),
}

/** Metadata of an answer: what came, and who it was. */
function answerTo(received: Metadata): Metadata {
  const answer = new Metadata()
  answer.set('x-caller', received.get('authorization')[0] === CREDENTIAL ? 'authentic' : 'bare')
  for (const name of ['x-in', 'x-in-bin']) {
    for (const value of received.get(name)) answer.add(name.replace('in', 'out'), value)
  }
  return answer
}

function trailer(count: number): Metadata {
  const metadata = new Metadata()
  metadata.set('x-count', String(count))
  return metadata
}

/** The server behind TLS, as a service of the proxy; `ended` resolves with the next call that its caller gave up. */
export async function grpcOrigin(t: TestContext) {
  const cancelled: string[] = []
  let wake = () => {}
  const hang: Download = (call) => {
    call.sendMetadata(answerTo(call.metadata))
    call.on('cancelled', () => {
      cancelled.push(call.request.toString())
      wake()
    })
    call.write(call.request)
  }
  const server = new Server()
  server.addService(METHODS, { unary, download, upload, both, fail, hang })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  t.after(() => server.forceShutdown())
  const origin = await tlsOrigin(
    t,
    (socket) => {
      const way = connect(port, '127.0.0.1')
      for (const one of [way, socket])
        one.on('error', () => {}).on('close', () => [way, socket].map((each) => each.destroy()))
      socket.pipe(way).pipe(socket)
    },
    undefined,
    ['h2'],
  )
  return {
    origin,
    /** Payloads of calls that were given up, once there are `count` of them. */
    async cancelled(count: number): Promise<readonly string[]> {
      while (cancelled.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return cancelled.toSorted()
    },
  }
}

type Unary = handleUnaryCall<Buffer, Buffer>
type Download = handleServerStreamingCall<Buffer, Buffer>

const unary: Unary = (call, done) => {
  call.sendMetadata(answerTo(call.metadata))
  done(null, call.request, trailer(1))
}

const download: Download = (call) => {
  call.sendMetadata(answerTo(call.metadata))
  for (let at = 0; at < 3; at += 1) call.write(Buffer.concat([call.request, Buffer.from(String(at))]))
  call.end(trailer(3))
}

const upload: handleClientStreamingCall<Buffer, Buffer> = (call, done) => {
  call.sendMetadata(answerTo(call.metadata))
  const parts: Buffer[] = []
  call.on('data', (part: Buffer) => parts.push(part))
  call.on('end', () => done(null, Buffer.concat(parts), trailer(parts.length)))
}

const both: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
  call.sendMetadata(answerTo(call.metadata))
  let count = 0
  call.on('data', (part: Buffer) => {
    count += 1
    call.write(part)
  })
  call.on('end', () => call.end(trailer(count)))
}

const fail: Unary = (_, done) => {
  done({ code: status.FAILED_PRECONDITION, details: 'not now, %\xe9', metadata: trailer(0) })
}

/** What every client has to see, whatever it is written in; the client prints it as one line of JSON. */
export const SEEN_BY_CLIENTS = {
  unary: ['authentic', 'hello', '1', 'value', 'AAEC'],
  large: 3_000_000,
  download: ['a0', 'a1', 'a2', '3'],
  upload: ['abc', '3'],
  both: ['one', 'two', '2'],
  fail: ['FAILED_PRECONDITION', 'not now, %é', '0'],
  deadline: 'DEADLINE_EXCEEDED',
  cancelled: ['cancel', 'CANCELLED'],
}

/** A client in Node, as people write it; reads nothing but the environment. */
export const NODE_CLIENT = `
import { createRequire } from 'node:module'
const { Client, Metadata, credentials, status } = createRequire(process.argv[1])('@grpc/grpc-js')
const client = new Client('api.prov.test:443', credentials.createSsl())
const same = (value) => value
const path = (name) => '/test.Echo/' + name
const seen = {}
const named = (code) => Object.keys(status).find((name) => status[name] === code)
const over = (call) => new Promise((resolve) => call.on('status', resolve).on('error', () => {}))
const metadata = new Metadata()
metadata.set('authorization', 'Bearer broker-proxy-managed')
metadata.set('x-in', 'value')
metadata.set('x-in-bin', Buffer.from([0, 1, 2]))
const unary = (name, request) => new Promise((resolve) => {
  const about = {}
  const call = client.makeUnaryRequest(path(name), same, same, request, metadata, (error, answer) => { about.error = error; about.answer = answer })
  call.on('metadata', (head) => { about.head = head })
  call.on('status', (end) => resolve({ ...about, end }))
})
const first = await unary('Unary', Buffer.from('hello'))
seen.unary = [first.head.get('x-caller')[0], String(first.answer), first.end.metadata.get('x-count')[0], first.head.get('x-out')[0], first.head.get('x-out-bin')[0].toString('base64')]
seen.large = (await unary('Unary', Buffer.alloc(3_000_000, 1))).answer.length
const download = client.makeServerStreamRequest(path('Download'), same, same, Buffer.from('a'), metadata)
const ended = over(download)
seen.download = []
for await (const part of download) seen.download.push(String(part))
seen.download.push((await ended).metadata.get('x-count')[0])
seen.upload = await new Promise((resolve) => {
  let answer
  const call = client.makeClientStreamRequest(path('Upload'), same, same, metadata, (error, body) => { answer = String(body) })
  call.on('status', (end) => resolve([answer, end.metadata.get('x-count')[0]]))
  for (const part of ['a', 'b', 'c']) call.write(Buffer.from(part))
  call.end()
})
const both = client.makeBidiStreamRequest(path('Both'), same, same, metadata)
const bothEnded = over(both)
seen.both = []
both.write(Buffer.from('one'))
for await (const part of both) {
  seen.both.push(String(part))
  if (seen.both.length === 1) both.write(Buffer.from('two'))
  else both.end()
}
seen.both.push((await bothEnded).metadata.get('x-count')[0])
const failed = await unary('Fail', Buffer.from('x'))
seen.fail = [named(failed.end.code), failed.end.details, failed.end.metadata.get('x-count')[0]]
const hanging = (word, options) => client.makeServerStreamRequest(path('Hang'), same, same, Buffer.from(word), metadata, options)
const late = hanging('late', { deadline: Date.now() + 1_000 })
late.on('data', () => {})
seen.deadline = named((await over(late)).code)
const given = hanging('cancel', {})
const givenUp = over(given)
given.on('data', (part) => { seen.cancelled = [String(part)]; given.cancel() })
const { code } = await givenUp
seen.cancelled.push(named(code))
console.log(JSON.stringify(seen))
client.close()
`

/** The same in Python. */
export const PYTHON_CLIENT = `
import base64, json, grpc
channel = grpc.secure_channel('api.prov.test:443', grpc.ssl_channel_credentials())
path = lambda name: '/test.Echo/' + name
metadata = (('authorization', 'Bearer broker-proxy-managed'), ('x-in', 'value'), ('x-in-bin', bytes([0, 1, 2])))
seen = {}
value = lambda pairs, name: next((v for k, v in pairs if k == name), None)
answer, call = channel.unary_unary(path('Unary')).with_call(b'hello', metadata=metadata)
head = call.initial_metadata()
seen['unary'] = [value(head, 'x-caller'), answer.decode(), value(call.trailing_metadata(), 'x-count'), value(head, 'x-out'), base64.b64encode(value(head, 'x-out-bin')).decode()]
seen['large'] = len(channel.unary_unary(path('Unary'))(bytes(3_000_000), metadata=metadata))
call = channel.unary_stream(path('Download'))(b'a', metadata=metadata)
seen['download'] = [part.decode() for part in call] + [value(call.trailing_metadata(), 'x-count')]
answer, call = channel.stream_unary(path('Upload')).with_call(iter([b'a', b'b', b'c']), metadata=metadata)
seen['upload'] = [answer.decode(), value(call.trailing_metadata(), 'x-count')]
import queue
parts = queue.Queue()
parts.put(b'one')
call = channel.stream_stream(path('Both'))(iter(parts.get, None), metadata=metadata)
seen['both'] = []
for part in call:
    seen['both'].append(part.decode())
    parts.put(b'two' if len(seen['both']) == 1 else None)
seen['both'].append(value(call.trailing_metadata(), 'x-count'))
try:
    channel.unary_unary(path('Fail'))(b'x', metadata=metadata)
except grpc.RpcError as error:
    seen['fail'] = [error.code().name, error.details(), value(error.trailing_metadata(), 'x-count')]
hang = channel.unary_stream(path('Hang'))
try:
    for part in hang(b'late', metadata=metadata, timeout=1): pass
except grpc.RpcError as error:
    seen['deadline'] = error.code().name
call = hang(b'cancel', metadata=metadata)
try:
    for part in call:
        seen['cancelled'] = [part.decode()]
        call.cancel()
except grpc.RpcError as error:
    seen['cancelled'].append(error.code().name)
print(json.dumps(seen, ensure_ascii=False))
`
