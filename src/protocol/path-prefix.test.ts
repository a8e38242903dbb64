import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { coversPath } from './path-prefix.ts'

describe('a path prefix', () => {
  for (const path of [
    '/mcp',
    '/mcp/',
    '/mcp/x',
    '/mcp//x',
    '/mcp/@acme%2fsecret',
    '/mcp/a%252Fb',
    '/mcp/...',
    '/mcp/.well-known/x',
    '/mcp/a..b/c.',
    '/mcp/x;v=1',
    '/mcp/%c3%80',
  ])
    it(`covers ${path}`, () => assert.ok(coversPath('/mcp/', path)))

  for (const path of [
    '/',
    '/mc',
    '/mcpx',
    '/MCP',
    '/mcp;x',
    '/mcp%2fx',
    '//mcp/x',
    '/x/mcp/',
    '/mcp/..',
    '/mcp/../v1',
    '/mcp/./../v1',
    '/mcp/x/../../v1',
    '/mcp/..;/v1',
    '/mcp/..%3B/v1',
    '/mcp/..\\v1',
    '/mcp\\..\\v1',
    '/mcp/%2e%2E/v1',
    '/mcp/.%2e/v1',
    '/mcp/..%2fv1',
    '/mcp/%c0%ae%c0%ae/v1',
    '/mcp/..%C1%9cv1',
    '/mcp/%25c0%25ae%25c0%25ae/v1',
    '/mcp%2f..%2fv1',
    '/mcp/x%2f..%2f..%2fv1',
    '/mcp/..%5cv1',
    '/mcp/%252e%252e/v1',
    '/mcp/..%25252fv1',
    '/mcp/.',
  ])
    it(`does not cover ${path}`, () => assert.ok(!coversPath('/mcp/', path)))

  it('is decided at once for a path that is made to take long', () => {
    const started = performance.now()
    for (const piece of ['%25', '%2e', '/.', '%2525', '%2f', '..%']) coversPath('/mcp/', `/mcp/${piece.repeat(20_000)}`)
    assert.ok(performance.now() - started < 1_000)
  })
})
