import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authority } from '../../network/index.ts'
import { compileHosts } from './base-url.ts'
import { definitionOf } from './definition.fixture.ts'
import { compileMatchTable } from './match-table.ts'
import type { Match, Provider } from './provider.ts'

function providerOf(name: string, hosts: readonly string[]): Provider {
  const definition = definitionOf({ name, hosts })
  return { definition, source: 'custom', overridesBundled: false, hosts: compileHosts(definition) }
}

function signing(name: string, hosts: readonly string[]): Provider {
  const definition = definitionOf({ name, hosts, api_key: undefined, signing: { type: 'aws_sigv4' } })
  return { definition, source: 'custom', overridesBundled: false, hosts: compileHosts(definition) }
}

const table = compileMatchTable([
  providerOf('exact', ['api.prov.test', 'api.prov.test:8443']),
  providerOf('wild', ['*.prov.test', '*.prov.test/deep/*']),
  providerOf('inner', ['eu.*.prov.test']),
  providerOf('paths', ['shared.test/a/*']),
  providerOf('longer', ['shared.test/a/b/*']),
  providerOf('twin-one', ['twin.test', '*.twin.test']),
  providerOf('twin-two', ['twin.test', '*.twin.test']),
  providerOf('bedrock', ['bedrock.*.amazonaws.com']),
  signing('storage', ['*.s3.*.amazonaws.com', '*.s3.amazonaws.com', 's3.*.amazonaws.com']),
  providerOf('loopback', ['[::1]:8443']),
])

function names(match: Match): readonly string[] | string {
  if (match.kind === 'one') return match.provider.definition.name
  return match.kind === 'tie' ? match.providers.map(({ definition }) => definition.name) : 'none'
}

const everyone = () => true

describe('matching a request', () => {
  for (const [host, port, path, expected] of [
    ['api.prov.test', 443, '/', 'exact'],
    ['API.Prov.TEST', 443, '/', 'exact'],
    ['api.prov.test', 8443, '/', 'exact'],
    ['api.prov.test', 8444, '/', 'none'],
    ['a.prov.test', 443, '/', 'wild'],
    ['prov.test', 443, '/', 'none'],
    ['a.b.prov.test', 443, '/', 'none'],
    ['eu.b.prov.test', 443, '/', 'inner'],
    ['evilprov.test', 443, '/', 'none'],
    ['.prov.test', 443, '/', 'none'],
    ['api.prov.test.', 443, '/', 'none'],
    ['api.prov.test.evil.test', 443, '/', 'none'],
    ['*.prov.test', 8443, '/', 'none'],
    ['b.s3.eu-west-1.amazonaws.com', 443, '/', 'storage'],
    ['b.s3.stranger.amazonaws.com', 443, '/', 'none'],
    ['bedrock.s3.amazonaws.com', 443, '/', 'storage'],
    ['bedrock.eu-west-1.amazonaws.com', 443, '/', 'bedrock'],
    ['s3.eu-west-1.amazonaws.com', 443, '/', 'storage'],
    ['.s3.eu-west-1.amazonaws.com', 443, '/', 'none'],
    ['a.b.s3.eu-west-1.amazonaws.com', 443, '/', 'none'],
    ['shared.test', 443, '/a/x', 'paths'],
    ['shared.test', 443, '/a/b/x', 'longer'],
    ['shared.test', 443, '/a/b', 'longer'],
    ['shared.test', 443, '/a', 'paths'],
    ['shared.test', 443, '/ab/', 'none'],
    ['shared.test', 443, '/ab', 'none'],
    ['shared.test', 443, '/a/@x%2fy', 'paths'],
    ['shared.test', 443, '/a/%252e%252e/c', 'none'],
    ['shared.test', 443, undefined, 'none'],
    ['shared.test', 443, '/a/../c', 'none'],
    ['shared.test', 443, '/a/%2e%2E/c', 'none'],
    ['shared.test', 443, '/a/..%2fc', 'none'],
    ['shared.test', 443, '/a/..;x/c', 'none'],
    ['shared.test', 443, '/a/..', 'none'],
    ['shared.test', 443, '/a/b/..\\..\\c', 'none'],
    ['shared.test', 443, '/a/x..y/z.%20', 'paths'],
    ['a.prov.test', 443, '/deep/../x', 'wild'],
    ['twin.test', 443, '/', ['twin-one', 'twin-two']],
    ['a.twin.test', 443, '/', ['twin-one', 'twin-two']],
    ['bedrock.us-east-1.amazonaws.com', 443, '/', 'bedrock'],
    ['bedrock.us-gov-west-1.amazonaws.com', 443, '/', 'bedrock'],
    ['bedrock.stranger.amazonaws.com', 443, '/', 'none'],
    ['::1', 8443, '/', 'loopback'],
    ['constructor', 443, '/', 'none'],
    ['', 443, '/', 'none'],
  ] as const)
    it(`${host}:${port}${path ?? ' without a path'} → ${expected}`, () => {
      assert.deepEqual(
        names(table.match({ ...authority(host, port), ...(path !== undefined && { path }) }, everyone)),
        expected,
      )
    })

  it('passes over those that are turned down', () => {
    const target = authority('api.prov.test', 443)
    assert.equal(names(table.match(target, ({ definition }) => definition.name !== 'exact')), 'wild')
    assert.equal(
      names(table.match(authority('twin.test', 443), ({ definition }) => definition.name === 'twin-two')),
      'twin-two',
    )
  })

  it('finds one among a thousand without trying them all', () => {
    const many = Array.from({ length: 1_000 }, (_, index) =>
      providerOf(`p${index}`, [`h${index}.test`, `*.w${index}.test`]),
    )
    const large = compileMatchTable(many)
    const asked = new Set<string>()
    const among = ({ definition }: Provider) => asked.add(definition.name).size > 0
    assert.equal(names(large.match(authority('h999.test', 443), among)), 'p999')
    assert.equal(names(large.match(authority('x.w998.test', 443), among)), 'p998')
    assert.deepEqual([...asked], ['p999', 'p998'])
  })
})
