import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { noProxyEntries, noProxyFor } from './no-proxy.ts'

const LOOPBACK = 'localhost,127.0.0.1,::1'

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

test('a network that has the address of a routed server is taken out', () => {
  const { value, removed } = noProxyFor(['127.0.0.0/8', '10.0.0.0/8'], ['127.0.0.1', 'localhost'])

  assert.deepEqual(removed, ['127.0.0.0/8'])
  assert.equal(value, '10.0.0.0/8,::1')
})

test('both spellings of the variable are read', () => {
  assert.deepEqual(noProxyEntries({ NO_PROXY: 'a.test, b.test', no_proxy: 'c.test' }), ['a.test', 'b.test', 'c.test'])
})

test('addresses lose their brackets, which httpx cannot read', () => {
  const entries = noProxyEntries({ NO_PROXY: '[::1], [fd00::7]:8080,[fe80::1],intranet.example:8080' })

  assert.deepEqual(entries, ['::1', 'fd00::7', 'fe80::1', 'intranet.example:8080'])
  const { value } = noProxyFor(entries, ['api.example.com'])
  assert.deepEqual(value.split(',').filter(crashesHttpx), [])
  assert.deepEqual(['[::1]', '[fd00::7]:8080'].filter(crashesHttpx), ['[::1]', '[fd00::7]:8080'])
})

/**
 * Returns whether httpx (0.24 and newer) fails to make any client because of this entry. It takes addresses and `localhost` as
 * hosts, and puts `*` before all others; the authority of the pattern that comes of it must parse: what is behind the
 * host, up to the end, has to be a port.
 */
function crashesHttpx(entry: string): boolean {
  const isAddress = isIP(entry) !== 0
  const authority = isAddress || entry === 'localhost' ? entry : `*${entry}`
  if (isIP(entry) === 6) return false
  const [, rest = ''] = /^(?:\[[^\]]*\]|[^:]*)(.*)$/.exec(authority) ?? []
  return rest !== '' && !/^:\d*$/.test(rest)
}
