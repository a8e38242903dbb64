import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noProxyEntries, noProxyFor } from './no-proxy.ts'

const LOOPBACK = 'localhost,127.0.0.1,::1,[::1]'

test('loopback is reached directly', () => {
  assert.deepEqual(noProxyFor([], ['api.example.com']), { value: LOOPBACK, removed: [] })
})

test("the user's entries stay where they concern no routed host", () => {
  const { value, removed } = noProxyFor(['intranet.example', '10.0.0.0/8'], ['api.example.com'])

  assert.equal(value, `intranet.example,10.0.0.0/8,${LOOPBACK}`)
  assert.deepEqual(removed, [])
})

test('an entry that would let a routed host past the proxy is taken out and told', () => {
  const entries = ['api.example.com', '.example.com', '*.EXAMPLE.com', 'com', '*', 'api.example.com:443']

  assert.deepEqual(noProxyFor(entries, ['api.example.com']), { value: LOOPBACK, removed: entries })
})

test('an entry for one name of a routed wildcard is taken out', () => {
  const { removed } = noProxyFor(['eu.api.example.com', 'eu.example.com'], ['*.api.example.com'])

  assert.deepEqual(removed, ['eu.api.example.com'])
})

test('both spellings of the variable are read', () => {
  assert.deepEqual(noProxyEntries({ NO_PROXY: 'a.test, b.test', no_proxy: 'c.test' }), ['a.test', 'b.test', 'c.test'])
})
