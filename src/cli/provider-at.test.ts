import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ProviderDefinition, ProviderSummary } from '../schemas/index.ts'
import { type Neighbour, parseAddress, placeAt, providersOnHost } from './provider-at.ts'

function provider(name: string, ...hosts: string[]): ProviderSummary {
  return { name, display_name: name, auth_type: 'oauth2', flow: 'pkce', source: 'bundled', hosts, connections: 0 }
}

const LIST = {
  bundled: [
    provider('wide', '*.acme.example'),
    provider('exact', 'mcp.acme.example'),
    provider('path', 'mcp.acme.example/v2/*'),
    provider('port', 'mcp.acme.example:8443'),
  ],
  custom: [provider('mcp.other.example', 'api.other.example')],
}

const NAMES = new Set([...LIST.bundled, ...LIST.custom].map(({ name }) => name))

function placeFor(address: string, neighbours?: readonly Neighbour[]) {
  const url = parseAddress(address)
  return placeAt(url, neighbours ?? providersOnHost(LIST, url), NAMES)
}

function nameAt(address: string, neighbours?: readonly Neighbour[]): string | undefined {
  const place = placeFor(address, neighbours)
  return place.kind === 'known' ? place.name : undefined
}

function madeAt(address: string, neighbours: readonly Neighbour[] = []): ProviderDefinition {
  const place = placeFor(address, neighbours)
  assert.ok(place.kind === 'new', `${address} is at a provider that is there`)
  return place.definition
}

function neighbour(name: string, resource: string | undefined, ...hosts: string[]): Neighbour {
  return { name, hosts, ...(resource !== undefined && { resource }) }
}

describe('the provider at an address', () => {
  for (const [address, name] of [
    ['https://api.acme.example/x', 'wide'],
    ['https://mcp.acme.example/x', 'exact'],
    ['https://MCP.Acme.example/x', 'exact'],
    ['https://mcp.acme.example/v2/x', 'path'],
    ['https://mcp.acme.example/v2', 'path'],
    ['https://mcp.acme.example/v20', 'exact'],
    ['https://mcp.acme.example:8443/', 'port'],
    ['https://mcp.acme.example:9443/', undefined],
    ['https://a.b.acme.example/', undefined],
    ['https://acme.example/', undefined],
    ['https://mcp.acme.example.evil.test/', undefined],
  ] as const)
    it(`is ${name ?? 'nobody'} for ${address}`, () => {
      assert.equal(nameAt(address), name)
    })

  const first = neighbour('first', 'https://h.example/mcp', 'h.example', 'h.example/mcp/*')
  const old = neighbour('old', 'https://h.example/mcp', 'h.example')
  const query = neighbour('query', 'https://h.example/q?a=1', 'h.example/q/*')
  for (const [address, name] of [
    ['https://h.example/mcp', 'first'],
    ['https://h.example/mcp/', 'first'],
    ['https://H.EXAMPLE:443/%6Dcp', 'first'],
    ['https://h.example/q?a=1', 'query'],
    ['https://h.example/b/mcp', undefined],
    ['https://h.example/MCP', undefined],
    ['https://h.example/mcp/b', undefined],
    ['https://h.example/mcpx', undefined],
  ] as const)
    it(`is ${name ?? 'nobody'} for ${address} where tokens are for one resource`, () => {
      assert.equal(nameAt(address, [query, first]), name)
    })

  it('is the one that names the resource, before one that covers it more exactly', () => {
    assert.equal(nameAt('https://h.example/mcp', [neighbour('hand', undefined, 'h.example/mcp/*'), old]), 'old')
  })

  it('is the one that names no resource, where it covers the address most exactly', () => {
    const whole = neighbour('whole', undefined, 'h.example')
    assert.equal(nameAt('https://h.example/b', [whole]), 'whole')
    const other = neighbour('b', 'https://h.example/b', 'h.example/b/*')
    assert.equal(nameAt('https://h.example/b/c', [whole, other]), undefined)
    assert.equal(nameAt('https://h.example/b', [neighbour('tenant', '{base_url}/mcp', 'h.example')]), 'tenant')
  })
})

describe('a definition made from an address', () => {
  it('has the host, and its own path by name, and asks for tokens by the address itself', () => {
    const { name, flow, hosts, oauth } = madeAt('https://mcp.new.example/sse?x=1')
    assert.deepEqual([name, flow], ['mcp.new.example', 'dcr_pkce'])
    assert.deepEqual(hosts, ['mcp.new.example', 'mcp.new.example/sse/*'])
    assert.deepEqual(oauth, { resource: 'https://mcp.new.example/sse?x=1', scopes: [] })
  })

  it('names the port where it is not that of https, and no slash where there is no path', () => {
    const { name, hosts, oauth } = madeAt('http://[::1]:8080/')
    assert.deepEqual([name, hosts, oauth?.resource], ['1-8080', ['[::1]:8080'], 'http://[::1]:8080'])
  })

  it('takes another name where its own is taken', () => {
    assert.equal(madeAt('https://mcp.other.example/').name, 'mcp.other.example-2')
  })

  for (const [address, hosts] of [
    ['https://h.example/b/mcp', ['h.example/b/mcp/*']],
    ['https://h.example/b/mcp/', ['h.example/b/mcp/*']],
    ['https://h.example/mcp/b', ['h.example/mcp/b/*']],
    ['https://h.example/%7Eb', ['h.example/~b/*']],
  ] as const)
    it(`has its path alone where the host is another's: ${address}`, () => {
      const made = madeAt(address, [neighbour('first', 'https://h.example/mcp', 'h.example', 'h.example/mcp/*')])
      assert.deepEqual(made.hosts, hosts)
      assert.equal(made.oauth?.resource, address)
    })

  it('leaves a longer path to the one that has it by name', () => {
    const inner = neighbour('inner', 'https://h.example/mcp/b', 'h.example', 'h.example/mcp/b/*')
    assert.deepEqual(madeAt('https://h.example/mcp', [inner]).hosts, ['h.example/mcp/*'])
  })

  it('has a plain host where its path can be no prefix, and is the first there', () => {
    assert.deepEqual(madeAt('https://h.example/a%20b').hosts, ['h.example'])
    assert.deepEqual(madeAt('https://h.example/a//b').hosts, ['h.example'])
  })

  for (const [address, why] of [
    ['https://h.example/', /it is the whole host/],
    ['https://h.example/?x', /it is the whole host/],
    ['https://h.example/a%20b', /characters that no path/],
    ['https://h.example/a//b', /characters that no path/],
    ['https://h.example/*', /characters that no path/],
    ['https://h.example/own?x=2', /the same path/],
    ['https://h.example/old', /at this one or below it/],
    ['https://h.example/old/mcp?x=2', /at this one or below it/],
  ] as const)
    it(`is not made where it could not be told apart: ${address}`, () => {
      const neighbours = [
        neighbour('own', 'https://h.example/own?x=1', 'h.example/own/*'),
        neighbour('old', 'https://h.example/old/mcp', 'h.example'),
      ]
      assert.throws(
        () => placeFor(address, neighbours),
        ({ name, message }: Error) => name === 'OperationNotAllowedError' && why.test(message),
      )
    })
})

describe('an address', () => {
  for (const text of [
    'http://mcp.acme.example/',
    'https://',
    'https://u:CNRY@acme.example/',
    'https://acme.example/#CNRY',
  ])
    it(`is refused, and not repeated: ${text}`, () => {
      assert.throws(
        () => parseAddress(text),
        ({ name, message }: Error) => name === 'InvalidRequestError' && !message.includes('CNRY'),
      )
    })
})
