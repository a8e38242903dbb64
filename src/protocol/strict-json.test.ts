import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseStrictJson, StrictJsonError } from './strict-json.ts'

describe('strict JSON', () => {
  it('reads what JSON.parse reads', () => {
    const text = '{"a":[{"k":1},{"k":2}],"k":"{\\"k\\":\\\\","b":{"a":null}, "c" : "a: \\"b\\":"}'
    assert.deepEqual(parseStrictJson(text), JSON.parse(text))
  })

  for (const [what, text] of [
    ['broken text', '{"a":'],
    ['nothing', ''],
    ['a byte order mark', '\uFEFF{}'],
    ['a name given twice', '{"a":1,"b":{"c":1},"a":2}'],
    ['a name given twice in two spellings', '{"a":1,"\\u0061" :2}'],
    ['__proto__', '{"a":{"__proto__":{}}}'],
    ['__proto__ in another spelling', '{"\\u005f_proto__":1}'],
    ['deep nesting', '['.repeat(10_000) + ']'.repeat(10_000)],
  ] as const)
    it(`refuses ${what}`, () => {
      assert.throws(() => parseStrictJson(text), StrictJsonError)
    })
})
