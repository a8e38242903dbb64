import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { netrcKeys } from './netrc.ts'
import { Broken } from './structured-text.ts'

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
    test(`is not understood with ${what}`, () => assert.ok(netrcKeys(text) instanceof Broken))
  }

  for (const [text, line] of [
    ['machine a password x\nport 80\n', 2],
    ['macdef init\nx\ny\n\nmachine a\npassword "x\n', 6],
    ['\n\npassword x\n', 3],
  ] as const)
    test(`breaks in line ${line}: ${JSON.stringify(text)}`, () => assert.deepEqual(netrcKeys(text), new Broken(line)))

  test('is read in time whatever is in it', { timeout: 5_000 }, () => {
    assert.ok(netrcKeys('"\\'.repeat(250_000)) instanceof Broken)
    assert.equal(keysIn('macdef x\n'.repeat(100_000)).size, 0)
    assert.equal(keysIn('machine a password b\n'.repeat(50_000)).size, 1)
    assert.equal(keysIn(' '.repeat(1_000_000)).size, 0)
  })
})

function found(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...keysIn(text)].map(([host, value]) => [host, value.reveal()]))
}

function keysIn(text: string) {
  const parsed = netrcKeys(text)
  assert.ok(!(parsed instanceof Broken))
  return parsed.keys
}
