import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PlacedJsonError, parsePlacedJson } from './placed-json.ts'

function problemOf(text: string): readonly [string, number, number] {
  try {
    parsePlacedJson(text)
  } catch (error) {
    assert.ok(error instanceof PlacedJsonError)
    return [error.message, error.line, error.column]
  }
  assert.fail('it was read')
}

test('what JSON says is what it says here', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(0, 2), (text, indent) => {
      const value = JSON.parse(text)
      // Refused here, as by the daemon.
      if (text.includes('__proto__')) return
      assert.deepEqual(parsePlacedJson(JSON.stringify(value, undefined, indent)).value, value)
    }),
  )
})

test('what is not JSON is not read', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 2 }), fc.nat(), fc.constantFrom('', ',', '"', '}', 'x', '\\'), (text, at, put) => {
      const broken = text.slice(0, at % text.length) + put + text.slice((at % text.length) + 1)
      const read = (parse: (text: string) => unknown) => {
        try {
          return [parse(broken)]
        } catch {
          return []
        }
      }
      const known = read(JSON.parse)
      const ours = read((one) => parsePlacedJson(one).value)
      // It refuses names given twice, too.
      if (ours.length > 0) assert.deepEqual(ours, known)
    }),
  )
})

test('a problem says what was probably meant, and where', () => {
  const cases = [
    ['{\n  "a": 1,\n}', 'there is a comma with nothing behind it', 2, 9],
    ['[1,\n]', 'there is a comma with nothing behind it', 1, 3],
    ['{\r\n  // hosts\r\n  "a": 1}', 'there is a comment, which JSON does not have', 2, 3],
    ['{"a": /* one */ 1}', 'there is a comment, which JSON does not have', 1, 7],
    ['{"a": 1} # end', 'there is a comment, which JSON does not have', 1, 10],
    ["{'a': 1}", 'there is a single quote: in JSON a text stands in double quotes', 1, 2],
    ['{“a”: 1}', 'there is a typographic quote in place of "', 1, 2],
    ['{a: 1}', 'the name of a field must stand in double quotes', 1, 2],
    ['{\n "a": 1\n "b": 2\n}', 'a comma is missing before this', 3, 2],
    ['{"a" 1}', 'a ":" is missing behind the name of a field', 1, 6],
    ['{\n "a": 1,\n "b": 2,\n "a": 3\n}', 'the field "a" is given twice, first in line 2', 4, 2],
    ['{"a": 1', 'it ends before a "}"', 1, 8],
    ['{"a": [1', 'it ends before a "]"', 1, 9],
    ['{"a": True}', 'a value is neither a text in double quotes nor a number, true, false or null', 1, 7],
    ['{"a": }', 'a value is missing', 1, 7],
    ['{"a": "x\n}', 'a text is not closed on its line', 1, 7],
    ['{"a": "\\q"}', 'a text has a control character, or a "\\" that means nothing', 1, 7],
    ['{} {}', 'something stands behind the end', 1, 4],
    ['{"__proto__": 1}', 'a field is named "__proto__"', 1, 2],
    [`${'['.repeat(70)}`, 'it is nested deeper than 64', 1, 66],
  ] as const
  for (const [text, ...problem] of cases) assert.deepEqual(problemOf(text), problem)
})

test('parts are found by their paths, or what they would be in', () => {
  const { lineOf } = parsePlacedJson('{\n "a": {\n  "b": [\n   1,\n   2\n  ]\n }\n}')

  assert.deepEqual(['', 'a', 'a.b', 'a.b.1', 'a.b.7', 'a.c', 'z'].map(lineOf), [1, 2, 3, 5, 3, 2, 1])
})
