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
  for (const [text, template, meant] of cases) assert.equal(meantBaseUrl(text, template), meant)
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
  for (const [text, template] of cases) assert.equal(meantBaseUrl(text, template), text)
})
