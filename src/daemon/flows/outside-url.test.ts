import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { outsideUrl } from './outside-url.ts'

const FIT: readonly (readonly [string, string])[] = [
  ['https://auth.example/device', 'https://auth.example/device'],
  ['https://AUTH.example:443/a b'.replace(' ', '%20'), 'https://auth.example/a%20b'],
  ['https://auth.example/$(id)', 'https://auth.example/$(id)'],
  ['https://auth.example/`id`?"&calc', 'https://auth.example/%60id%60?%22&calc'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/'],
  ['http://2130706433/', 'http://127.0.0.1/'],
  ['http://localhost/x', 'http://localhost/x'],
  ['http://[::1]:9/', 'http://[::1]:9/'],
]

const UNFIT: readonly unknown[] = [
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'vbscript:x',
  'ms-settings:',
  'http://auth.example/',
  'http://127.0.0.1.evil.test/',
  'http://localhost.evil.test/',
  'https://user:secret@auth.example/',
  'https://user@auth.example/',
  'https:auth.example',
  'https:/auth.example',
  '-https://auth.example/',
  ' https://auth.example/',
  'https://auth.example/\n',
  'https://auth.example/a\tb',
  'https://auth.example/a b',
  'https://auth.example/\u0000',
  'https://auth.example\\@evil.test/',
  'https://',
  '//auth.example/',
  `https://auth.example/${'a'.repeat(100_000)}`,
  `https://auth.example/${'"'.repeat(1000)}`,
  '',
  undefined,
  null,
  7,
  ['https://auth.example/'],
]

describe('a URL from outside', () => {
  for (const [text, href] of FIT)
    it(`${text} is ${href}`, () => {
      assert.equal(outsideUrl(text), href)
    })

  for (const text of UNFIT)
    it(`${JSON.stringify(text)?.slice(0, 60)} is not fit`, () => {
      assert.equal(outsideUrl(text), undefined)
    })
})
