import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { appAssertion, serviceAccountAssertion } from './jwt-assertion.ts'
import { parsePrivateKey } from './private-key.ts'
import { parseServiceAccount } from './service-account.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PKCS8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const PKCS1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
const NOW = Date.parse('2026-11-21T09:30:00.500Z')
const SECONDS = Math.floor(NOW / 1000)
const FILE = {
  type: 'service_account',
  project_id: 'acme',
  private_key_id: 'kid-1',
  private_key: PKCS8,
  client_email: 'agent@acme.iam.gserviceaccount.com',
  token_uri: 'https://evil.test/token',
}

function read(jwt: string) {
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  assert.ok(verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url')))
  const [head, content] = [header, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return { header: head, claims: content }
}

describe('an assertion', () => {
  it('of a service account is for the endpoint of the definition, not for that of the file', () => {
    const account = parseServiceAccount(JSON.stringify(FILE))
    assert.ok('key' in account)
    const grant = { tokenUrl: 'https://oauth2.googleapis.com/token', scopes: ['a', 'b'], subject: 'ada@acme.test' }
    assert.deepEqual(read(serviceAccountAssertion(account, grant, NOW).reveal()), {
      header: { alg: 'RS256', typ: 'JWT', kid: 'kid-1' },
      claims: {
        iss: FILE.client_email,
        sub: 'ada@acme.test',
        aud: 'https://oauth2.googleapis.com/token',
        scope: 'a b',
        iat: SECONDS,
        exp: SECONDS + 3600,
      },
    })
  })

  for (const [form, pem] of [
    ['PKCS #8', PKCS8],
    ['PKCS #1', PKCS1],
    ['PKCS #1 with the line ends of a form', PKCS1.replaceAll('\n', '\r\n')],
  ] as const)
    it(`of an app lives ten minutes by any clock: key as ${form}`, () => {
      const key = parsePrivateKey(pem)
      assert.ok(key)
      const { claims } = read(appAssertion('12345', key, NOW).reveal())
      assert.deepEqual(claims, { iat: SECONDS - 60, exp: SECONDS + 540, iss: '12345' })
    })
})

describe('a key file', () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const pem = (key: typeof small) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
  for (const [what, text, problem] of [
    ['no JSON', 'CNRY', 'be the JSON key file of a service account'],
    ['null', 'null', 'be the JSON key file of a service account'],
    [
      'the file of a user',
      JSON.stringify({ ...FILE, type: 'authorized_user' }),
      'be a key file whose type is "service_account"',
    ],
    ['no address', JSON.stringify({ ...FILE, client_email: 'a b' }), 'hold a client_email'],
    ['no key', JSON.stringify({ ...FILE, private_key: '-----CNRY' }), 'hold a private_key: an RSA key as PEM'],
    ['a short key', JSON.stringify({ ...FILE, private_key: pem(small) }), 'hold a private_key: an RSA key as PEM'],
    ['another kind', JSON.stringify({ ...FILE, private_key: pem(curve) }), 'hold a private_key: an RSA key as PEM'],
  ] as const)
    it(`is refused, and nothing of it is said: ${what}`, () => {
      assert.deepEqual(parseServiceAccount(text), { problem })
    })
})
