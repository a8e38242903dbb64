import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { rootCertificates } from 'node:tls'
import { systemRoots } from '../network/index.ts'
import { parseConnectTo } from './connect-to.ts'
import { parseCorporateProxy } from './corporate-proxy.ts'
import { overridesOf } from './overrides.ts'
import { createCertificateAuthority } from './tls/index.ts'

const NONE = { upstreamCa: [], connectTo: [] }
const OWN = createCertificateAuthority(['own.test'], new Date()).caPem.trim()
const OTHER = createCertificateAuthority(['other.test'], new Date()).caPem.trim()

test('what is the machine’s own is no override', () => {
  assert.equal(overridesOf(NONE), undefined)
  assert.equal(overridesOf({ ...NONE, upstreamCa: [...rootCertificates.slice(0, 2), ...systemRoots()] }), undefined)
})

test('a root that is not the system’s is told by its fingerprint, several by one digest in no order', () => {
  const fingerprint = new X509Certificate(OWN).fingerprint256.replaceAll(':', '').toLowerCase()
  assert.deepEqual(overridesOf({ ...NONE, upstreamCa: [OWN, ...systemRoots()] }), { ca: `sha256:${fingerprint}` })

  const both = overridesOf({ ...NONE, upstreamCa: [OWN, OTHER] })
  assert.deepEqual(overridesOf({ ...NONE, upstreamCa: [OTHER, OWN] }), both)
  assert.notEqual(both?.ca, `sha256:${fingerprint}`)
})

test('addresses are told as they were written', () => {
  const text = ':443:127.0.0.1:8443,api.test:443:[::1]:'
  assert.deepEqual(overridesOf({ ...NONE, connectTo: parseConnectTo(text) })?.connect_to, text.split(','))
})

test('of very many addresses the rest is told as a number', () => {
  const connectTo = parseConnectTo(Array.from({ length: 150 }, (_, at) => `h${at}.test:443:x.test:443`).join())
  const told = overridesOf({ ...NONE, connectTo })?.connect_to ?? []
  assert.equal(told.length, 100)
  assert.equal(told.at(-1), 'and 51 more')
})

test('a proxy on the way is told without the password for it', () => {
  const corporateProxy = parseCorporateProxy({ HTTPS_PROXY: 'https://ada:CNRYsecret@proxy.corp.test' })
  assert.ok(corporateProxy)
  assert.deepEqual(overridesOf({ ...NONE, corporateProxy }), { proxy: 'https://proxy.corp.test:443' })
})
