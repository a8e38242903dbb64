import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meantBaseUrl } from './meant-base-url.ts'

const SHOP = 'https://{shop}.myshopify.com'

test('a tenant is known by its name, its host or its address', () => {
  const cases = [
    ['myshop', SHOP, 'https://myshop.myshopify.com'],
    ['MyShop', SHOP, 'https://myshop.myshopify.com'],
    ['myshop.myshopify.com', SHOP, 'https://myshop.myshopify.com'],
    ['myshop.myshopify.com/admin', SHOP, 'https://myshop.myshopify.com/admin'],
    ['acme', 'https://eu.{tenant}.example.com:8443/api', 'https://eu.acme.example.com:8443/api'],
    ['eu.acme.example.com:8443', 'https://eu.{tenant}.example.com:8443/api', 'https://eu.acme.example.com:8443'],
  ] as const
  for (const [text, base_url, meant] of cases) assert.equal(meantBaseUrl(text, { base_url }), meant)
})

test('what may be something else stays as it is', () => {
  const cases = [
    ['https://myshop.myshopify.com', SHOP],
    ['http://myshop', SHOP],
    ['myshop.evil.example', SHOP],
    ['a.b.myshopify.com', SHOP],
    ['-myshop', SHOP],
    ['my shop', SHOP],
    ['', SHOP],
    ['myshop', 'https://api.example.com'],
    ['gitlab.example.com', undefined],
  ] as const
  for (const [text, base_url] of cases)
    assert.equal(meantBaseUrl(text, base_url === undefined ? {} : { base_url }), text)
})

test('a host of one of several clouds is known, and a name in all of them is not', () => {
  const base_url = ['https://{workspace}.cloud.example.com', 'https://{workspace}.azure.example.net']
  assert.equal(meantBaseUrl('acme.azure.example.net', { base_url }), 'https://acme.azure.example.net')
  assert.equal(meantBaseUrl('acme', { base_url }), 'acme')
})

test('a server of one’s own is known by its host, where people run them', () => {
  const self_hosted = [{ like: 'gitlab.example' }]
  assert.equal(meantBaseUrl('git.acme.example', { self_hosted }), 'https://git.acme.example')
  assert.equal(meantBaseUrl('git.acme.example:8443/gitlab', { self_hosted }), 'https://git.acme.example:8443/gitlab')
  assert.equal(meantBaseUrl('git', { self_hosted }), 'git')
  assert.equal(meantBaseUrl('git.acme.example', {}), 'git.acme.example')
})
