import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { definitionOf } from './definition.fixture.ts'
import { differenceOf } from './destination-difference.ts'
import { destinationText } from './destination-digest.ts'

const account = { name: 'account', label: 'Account', secret: false, required: true }
const key = { name: 'api_key', label: 'Key', secret: true, required: true }
const text = (api_key: object) => destinationText(definitionOf({ api_key }), 'api_key')

describe('what is shown of the form of a key before it is approved', () => {
  for (const [api_key, line] of [
    [{ header_name: 'X-Key' }, 'header x-key: {api_key}'],
    [{ value: 'key {api_key}' }, 'header authorization: key {api_key}'],
    [{ query_param: 'key' }, 'query key: {api_key}'],
    [{ encoding: 'basic' }, 'header authorization: Basic :{api_key}'],
    [{ encoding: 'basic', username: '{api_key}' }, 'header authorization: Basic {api_key}:'],
    [{ encoding: 'basic', username: '{api_key}', password: 'X' }, 'header authorization: Basic {api_key}:X'],
    [
      { encoding: 'basic', username: '{account}', fields: [account, key] },
      'header authorization: Basic {account}:{api_key}',
    ],
    [{ encoding: 'basic', prefix: 'Key' }, 'header authorization: Key :{api_key}'],
  ] as const)
    it(line, () => {
      assert.deepEqual(differenceOf(text({ prefix: 'Bearer' }), text(api_key)).added.injections, [line])
    })
})
