import assert from 'node:assert/strict'
import { createHmac, createPrivateKey, randomBytes, sign } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { didOf, generateSigningKey, mintProof } from '../src/identity/index.ts'
import {
  type Caller,
  caller,
  type DaemonUnderTest,
  owner,
  send,
  startDaemon,
  suiteCleanup,
} from './daemon-under-test.ts'
import { rawRequest, statusOf } from './raw-request.ts'

const b64 = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

describe('proof of possession', () => {
  let daemon: DaemonUnderTest
  let ada: Caller
  const cleanup = suiteCleanup()
  before(async () => {
    daemon = await startDaemon(cleanup)
    ada = await owner(daemon)
  })

  const target = '/api/whoami'
  const ask = (authorization: string, path = target) => send(daemon, 'GET', path, '', { authorization })
  const emptyHash = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'

  function claims(change: object = {}): Record<string, unknown> {
    const iat = Math.floor(Date.now() / 1000)
    const right = {
      iss: ada.key.did,
      sub: 'ada',
      htm: 'GET',
      htu: daemon.origin + target,
      body_sha256: emptyHash,
      iat,
      exp: iat + 30,
      jti: randomBytes(16).toString('base64url'),
    }
    return { ...right, ...change }
  }

  function jwt(payload: object, header: object | string = { typ: 'pop+jwt', alg: 'EdDSA' }): string {
    const input = `${b64(header)}.${b64(payload)}`
    return `${input}.${ada.key.sign(Buffer.from(input)).toString('base64url')}`
  }

  it('accepts a right proof, whatever the case of the scheme', async () => {
    const scheme = await Promise.all(['PoP', 'pop', 'POP'].map((name) => ask(`${name} ${jwt(claims())}`)))
    assert.deepEqual(
      scheme.map(({ status }) => status),
      [200, 200, 200],
    )
  })

  it('answers a missing proof with 401 and a challenge', async () => {
    const answer = await send(daemon, 'GET', target)
    assert.equal(answer.status, 401)
    assert.equal(answer.headers['www-authenticate'], 'PoP')
    assert.equal(answer.body.error, 'AuthenticationFailedError')
    assert.equal(answer.body.request_id, answer.headers['x-request-id'])
  })

  const now = Math.floor(Date.now() / 1000)
  const badClaims: readonly [string, object][] = [
    ['another method', { htm: 'POST' }],
    ['a lower-case method', { htm: 'get' }],
    ['another path', { htu: 'http://127.0.0.1:1/api/ready' }],
    ['another body', { body_sha256: emptyHash.replace('4', '5') }],
    ['a padded body hash', { body_sha256: `${emptyHash}=` }],
    ['a hash in hex', { body_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' }],
    ['a life of more than a minute', { iat: now, exp: now + 61 }],
    ['no life at all', { iat: now, exp: now }],
    ['an end before its start', { iat: now, exp: now - 5 }],
    ['a start in the future', { iat: now + 600, exp: now + 630 }],
    ['an end long ago', { iat: now - 600, exp: now - 570 }],
    ['fractional seconds', { iat: now + 0.5, exp: now + 30 }],
    ['a time as text', { iat: String(now) }],
    ['a negative time', { iat: -1, exp: 30 }],
    ['a short jti', { jti: 'fifteen-letters' }],
    ['a long jti', { jti: 'x'.repeat(65) }],
    ['a handle in upper case', { sub: 'Ada' }],
    ['another handle', { sub: 'eve' }],
    ['an issuer that is no did:key', { iss: 'did:web:example.com' }],
    ['nested claims', { cnf: { jwk: {} } }],
    ...['iss', 'sub', 'htm', 'htu', 'body_sha256', 'iat', 'exp', 'jti'].map(
      (name) => [`no ${name}`, { [name]: undefined }] as [string, object],
    ),
  ]
  for (const [what, change] of badClaims) {
    it(`refuses a proof with ${what}`, async () => {
      assert.equal((await ask(`PoP ${jwt(claims(change))}`)).status, 401)
    })
  }

  const badHeaders: readonly [string, object | string][] = [
    ['alg none', { typ: 'pop+jwt', alg: 'none' }],
    ['alg HS256', { typ: 'pop+jwt', alg: 'HS256' }],
    ['a foreign type', { typ: 'JWT', alg: 'EdDSA' }],
    ['a key of its own', { typ: 'pop+jwt', alg: 'EdDSA', jwk: 'x' }],
    ['a key id', { typ: 'pop+jwt', alg: 'EdDSA', kid: '../../key' }],
    ['crit', { typ: 'pop+jwt', alg: 'EdDSA', crit: 'x' }],
    ['a member twice', '{"typ":"pop+jwt","alg":"none","alg":"EdDSA"}'],
    ['an array', '["pop+jwt","EdDSA"]'],
    ['null', 'null'],
  ]
  for (const [what, header] of badHeaders) {
    it(`refuses a header with ${what}`, async () => {
      assert.equal((await ask(`PoP ${jwt(claims(), header)}`)).status, 401)
    })
  }

  it('refuses a proof whose parts are not exactly three, or padded, or broken', async () => {
    const good = jwt(claims())
    const [header = '', payload = ''] = good.split('.')
    const bad = [`${good}.x`, `${header}.${payload}`, `${header}=.${payload}.x`, '...', good.slice(0, -4), `${good} x`]
    const answers = await Promise.all(bad.map((text) => ask(`PoP ${text}`)))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([401]))
  })

  it('refuses a MAC that was made with the public key as its secret', async () => {
    const input = `${b64({ typ: 'pop+jwt', alg: 'HS256' })}.${b64(claims())}`
    const mac = createHmac('sha256', ada.key.did).update(input).digest('base64url')
    assert.equal((await ask(`PoP ${input}.${mac}`)).status, 401)
  })

  it('refuses a signature by an Ed448 key, and a point of small order as the signer', async () => {
    const ed448 = createPrivateKey(
      `-----BEGIN PRIVATE KEY-----\n${Buffer.concat([Buffer.from('3047020100300506032b6571043b0439', 'hex'), Buffer.alloc(57, 7)]).toString('base64')}\n-----END PRIVATE KEY-----`,
    )
    const input = `${b64({ typ: 'pop+jwt', alg: 'EdDSA' })}.${b64(claims())}`
    const long = sign(null, Buffer.from(input), ed448).toString('base64url')
    assert.equal((await ask(`PoP ${input}.${long}`)).status, 401)

    const neutral = didOf(Buffer.from(`01${'00'.repeat(31)}`, 'hex'))
    const forged = `${b64({ typ: 'pop+jwt', alg: 'EdDSA' })}.${b64(claims({ iss: neutral }))}`
    const anyMessage = Buffer.concat([Buffer.from(`01${'00'.repeat(31)}`, 'hex'), Buffer.alloc(32)]).toString(
      'base64url',
    )
    assert.equal((await ask(`PoP ${forged}.${anyMessage}`)).status, 401)
  })

  it('binds a proof to its query as it was sent', async () => {
    const path = '/api/audit/events?limit=5&status=success'
    const proof = () => jwt(claims({ htu: daemon.origin + path }))
    assert.equal((await ask(`PoP ${proof()}`, path)).status, 200)
    assert.equal((await ask(`PoP ${proof()}`, '/api/audit/events?status=success&limit=5')).status, 401)
    assert.equal((await ask(`PoP ${proof()}`, '/api/audit/events')).status, 401)
  })

  it('refuses a proof that was made for a daemon on another port', async () => {
    const other = `http://127.0.0.1:${daemon.port + 1}${target}`
    assert.equal((await ask(`PoP ${jwt(claims({ htu: other }))}`)).status, 401)
  })

  it('refuses a body that was swapped after signing', async () => {
    const url = `${daemon.origin}/api/credentials/resolve`
    const body = Buffer.from('{"host":"a.example"}')
    const proof = mintProof(ada.key, { handle: 'ada', method: 'POST', url, body })
    const headers = { authorization: `PoP ${proof}`, 'content-type': 'application/json' }
    const answer = await send(daemon, 'POST', '/api/credentials/resolve', '{"host": "a.example"}', headers)
    assert.equal(answer.status, 401)
  })

  it('accepts one of two hundred copies that arrive at once', async () => {
    const proof = `PoP ${jwt(claims())}`
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(proof)))
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    assert.equal(answers.filter(({ status }) => status === 401).length, 199)
  })

  it('lets another identity use the same jti', async () => {
    const bob = await owner(daemon, 'bob')
    const jti = randomBytes(16).toString('base64url')
    const input = `${b64({ typ: 'pop+jwt', alg: 'EdDSA' })}.${b64(claims({ jti, iss: bob.key.did, sub: 'bob' }))}`
    const his = `${input}.${bob.key.sign(Buffer.from(input)).toString('base64url')}`
    assert.equal((await ask(`PoP ${jwt(claims({ jti }))}`)).status, 200)
    assert.equal((await ask(`PoP ${his}`)).status, 200)
  })

  it('refuses a registered handle that another key signed, with the words for a handle nobody has', async () => {
    const eve = generateSigningKey()
    const answers = await Promise.all([
      caller(daemon, 'ada', eve).call('GET', target),
      caller(daemon, 'nobody', eve).call('GET', target),
    ])
    const [first, second] = answers.map(({ status, body }) => [status, body.error, body.message, body.hint])
    assert.deepEqual(first, second)
    assert.equal(first?.[0], 401)
  })

  it('refuses two Authorization headers', async () => {
    const [one, two] = [jwt(claims()), jwt(claims())]
    const answer = await rawRequest(
      daemon.port,
      `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${daemon.port}\r\nAuthorization: PoP ${one}\r\nAuthorization: PoP ${two}\r\n\r\n`,
    )
    assert.equal(statusOf(answer), 400)
  })
})

describe('a used proof', () => {
  it('is refused after a restart, clean or not', async (t) => {
    let daemon = await startDaemon(t)
    const { home, port } = daemon
    const ada = await owner(daemon)
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const url = `${daemon.origin}/api/whoami`
      const proof = mintProof(ada.key, { handle: 'ada', method: 'GET', url, body: new Uint8Array() })
      const use = () => send(daemon, 'GET', '/api/whoami', '', { authorization: `PoP ${proof}` })
      assert.equal((await use()).status, 200)
      await daemon.stop(signal)
      daemon = await startDaemon(t, { home, env: { BROKER_PORT: String(port) } })
      assert.equal((await use()).status, 401)
      assert.equal((await caller(daemon, 'ada', ada.key).call('GET', '/api/whoami')).status, 200)
    }
  })

  it('is refused even where the memory of used proofs was lost', async (t) => {
    const first = await startDaemon(t)
    const ada = await owner(first)
    const url = `${first.origin}/api/whoami`
    const proof = mintProof(ada.key, { handle: 'ada', method: 'GET', url, body: new Uint8Array() })
    const use = () => send(first, 'GET', '/api/whoami', '', { authorization: `PoP ${proof}` })
    assert.equal((await use()).status, 200)
    await first.stop()
    const ledger = join(first.home, 'server/replay.db')
    const env = { BROKER_PORT: String(first.port) }
    for (const lose of [() => rmSync(ledger), () => writeFileSync(ledger, 'no database at all, but long enough')]) {
      lose()
      const daemon = await startDaemon(t, { home: first.home, env })
      assert.equal((await use()).status, 401)
      await daemon.stop()
    }
  })
})
