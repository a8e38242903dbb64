import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authority } from '../network/index.ts'
import { RouteTable, routesForPath } from './route-table.ts'
import { route } from './test-stage.ts'

const providersOf = (table: RouteTable, host: string, port = 443) =>
  table.match(authority(host, port)).map(({ provider }) => provider)

const nothing = () => false

const table = new RouteTable(
  {
    version: '1',
    routes: [route('api.prov.test'), route('*.wild.test'), route('eu.*.deep.test', { port: 8443 }), route('127.0.0.1')],
  },
  nothing,
)

test('exact hosts, one-label wildcards and ports are matched; addresses never are', () => {
  assert.equal(providersOf(table, 'api.prov.test').length, 1)
  assert.equal(providersOf(table, 'a.wild.test').length, 1)
  assert.equal(providersOf(table, 'eu.x.deep.test', 8443).length, 1)
  const none = [
    'prov.test',
    'xapi.prov.test',
    'api.prov.test.evil.test',
    'wild.test',
    'a.b.wild.test',
    'evilwild.test',
    '127.0.0.1',
  ]
  for (const host of none) assert.deepEqual(providersOf(table, host), [], host)
  assert.deepEqual(providersOf(table, 'api.prov.test', 8443), [])
  assert.deepEqual(providersOf(table, 'eu.x.deep.test'), [])
  assert.deepEqual(table.hosts, ['api.prov.test', '*.wild.test', 'eu.*.deep.test'])
})

test('a host is known whatever the port', () => {
  assert.equal(table.knowsHost('eu.x.deep.test'), true)
  assert.equal(table.knowsHost('evil.test'), false)
})

test('a wildcard left of Amazon’s name is a region, as for the daemon, and never a bucket', () => {
  const amazon = new RouteTable({ version: '1', routes: [route('bedrock-runtime.*.amazonaws.com')] }, nothing)
  assert.equal(providersOf(amazon, 'bedrock-runtime.us-east-1.amazonaws.com').length, 1)
  assert.deepEqual(providersOf(amazon, 'bedrock-runtime.s3.amazonaws.com'), [])
  assert.equal(amazon.knowsHost('bedrock-runtime.s3.amazonaws.com'), false)
})

test('a new route counts where a certificate can be had for its host, and one that is gone stays', () => {
  const covers = (host: string) => host === 'a.test' || host === '*.later.test'
  const learning = new RouteTable({ version: '1', routes: [route('a.test', { path_prefix: '/x/' })] }, covers)
  const latest = [route('a.test', { path_prefix: '/y/' }), route('*.later.test'), route('b.test')]
  assert.deepEqual(learning.learn({ version: '2', routes: latest }), { missedHosts: ['b.test'] })
  const routes = learning.match(authority('a.test', 443))
  assert.equal(routesForPath(routes, '/x/1').length, 1)
  assert.equal(routesForPath(routes, '/y/1').length, 1)
  assert.equal(providersOf(learning, 'x.later.test').length, 1)
  assert.deepEqual(learning.hosts, ['a.test', '*.later.test'])
  assert.deepEqual([learning.knowsHost('x.later.test'), learning.knowsHost('b.test')], [true, false])
  assert.deepEqual(learning.match(authority('b.test', 443)), [])
})

test('a host that only a new run can have is known while it is connected', () => {
  const learning = new RouteTable({ version: '1', routes: [] }, nothing)
  assert.equal(learning.needsNewRun(authority('b.test', 443)), false)
  learning.learn({ version: '2', routes: [route('b.test'), route('127.0.0.1')] })
  assert.equal(learning.needsNewRun(authority('b.test', 443)), true)
  assert.equal(learning.needsNewRun(authority('b.test', 8443)), false)
  assert.equal(learning.needsNewRun(authority('127.0.0.1', 443)), false)
  learning.learn({ version: '3', routes: [] })
  assert.equal(learning.needsNewRun(authority('b.test', 443)), false)
})

test('what is spoken to in the clear is on this machine, at its own port, and needs no certificate', () => {
  const routes = [
    route('localhost', { port: 11434, plain: true }),
    route('127.0.0.1', { port: 11434, plain: true, path_prefix: '/v1/' }),
    route('git.acme.test', { port: 80, plain: true }),
  ]
  const plain = new RouteTable({ version: '1', routes }, nothing)
  assert.deepEqual(plain.hosts, [])
  assert.equal(plain.matchPlain(authority('localhost', 11434)).length, 1)
  assert.equal(plain.matchPlain(authority('127.0.0.1', 11434)).length, 1)
  assert.deepEqual(plain.match(authority('localhost', 11434)), [])
  assert.deepEqual(plain.matchPlain(authority('localhost', 11435)), [])
  assert.deepEqual(plain.matchPlain(authority('git.acme.test', 80)), [])
  assert.deepEqual([plain.speaksPlain('localhost'), plain.speaksPlain('::1')], [true, false])
  const later = route('localhost', { port: 8000, plain: true })
  assert.deepEqual(plain.learn({ version: '2', routes: [later] }), { missedHosts: [] })
  assert.equal(plain.matchPlain(authority('localhost', 8000)).length, 1)
})
