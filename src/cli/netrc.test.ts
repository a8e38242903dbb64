import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { netrcKeys } from './netrc.ts'

describe('a .netrc', () => {
  test('gives the password of each machine, on one line or on several', () => {
    assert.deepEqual(
      found('machine API.Heroku.com\n  login ada@example.com\r\n  password CNRY1\nmachine b login x password CNRY2'),
      { 'api.heroku.com': 'CNRY1', b: 'CNRY2' },
    )
  })

  test('gives the first of two passwords, and none of the default entry', () => {
    assert.deepEqual(
      found('machine a login x password CNRY1\nmachine a login y password CNRY2\ndefault login z password CNRY3'),
      { a: 'CNRY1' },
    )
  })

  test('may have comments, quotes, accounts, and machines without a password', () => {
    assert.deepEqual(
      found(
        '# machine c password CNRY0\nmachine a account z password "CNRY \\"1\\"" # mine\nmachine b login x\nmachine d password #CNRY4',
      ),
      { a: 'CNRY "1"', d: '#CNRY4' },
    )
  })

  test('keeps its macros to itself', () => {
    assert.deepEqual(
      found(
        'machine a password CNRY1\nmacdef init\nmachine b password CNRY2\n\nmachine c password CNRY3\nmacdef last\nx',
      ),
      { a: 'CNRY1', c: 'CNRY3' },
    )
  })

  for (const [what, text] of Object.entries({
    'an unknown word': 'machine a password x port 80',
    'a password of nobody': 'password x',
    'a word without its value': 'machine a password',
    'an open quote': 'machine a password "x y',
    prose: 'hello there',
  })) {
    test(`is not understood with ${what}`, () => assert.equal(netrcKeys(text), undefined))
  }

  test('is read in time whatever is in it', { timeout: 5_000 }, () => {
    assert.equal(netrcKeys('"\\'.repeat(250_000)), undefined)
    assert.equal(netrcKeys('macdef x\n'.repeat(100_000))?.keys.size, 0)
    assert.equal(netrcKeys('machine a password b\n'.repeat(50_000))?.keys.size, 1)
    assert.equal(netrcKeys(' '.repeat(1_000_000))?.keys.size, 0)
  })
})

function found(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...(netrcKeys(text)?.keys ?? [])].map(([host, value]) => [host, value.reveal()]))
}
