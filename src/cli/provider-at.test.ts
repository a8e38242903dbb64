import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ProviderList, ProviderSummary } from '../schemas/index.ts'
import { definitionFor, parseAddress, providerAt } from './provider-at.ts'

function provider(name: string, ...hosts: string[]): ProviderSummary {
  return { name, display_name: name, auth_type: 'oauth2', flow: 'pkce', source: 'bundled', hosts, connections: 0 }
}

const LIST: ProviderList = {
  bundled: [
    provider('wide', '*.acme.example'),
    provider('exact', 'mcp.acme.example'),
    provider('path', 'mcp.acme.example/v2/*'),
    provider('port', 'mcp.acme.example:8443'),
  ],
  custom: [provider('mcp.other.example', 'api.other.example')],
}

describe('the provider at an address', () => {
  for (const [address, name] of [
    ['https://api.acme.example/x', 'wide'],
    ['https://mcp.acme.example/x', 'exact'],
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
      assert.equal(providerAt(LIST, parseAddress(address))?.name, name)
    })
})

describe('a definition made from an address', () => {
  it('sends the token to that origin alone, and asks for it by the address itself', () => {
    const { name, flow, hosts, oauth } = definitionFor(parseAddress('https://mcp.new.example/sse?x=1'), LIST)
    assert.deepEqual([name, flow, hosts], ['mcp.new.example', 'dcr_pkce', ['mcp.new.example']])
    assert.deepEqual(oauth, { resource: 'https://mcp.new.example/sse?x=1', scopes: [] })
  })

  it('names the port where it is not that of https, and no slash where there is no path', () => {
    const { name, hosts, oauth } = definitionFor(parseAddress('http://[::1]:8080/'), LIST)
    assert.deepEqual([name, hosts, oauth?.resource], ['1-8080', ['[::1]:8080'], 'http://[::1]:8080'])
  })

  it('takes another name where its own is taken', () => {
    assert.equal(definitionFor(parseAddress('https://mcp.other.example/'), LIST).name, 'mcp.other.example-2')
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
