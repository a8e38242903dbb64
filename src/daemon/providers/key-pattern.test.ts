import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compileKeyPattern, KeyPatternError } from './key-pattern.ts'

describe('a key pattern', () => {
  for (const [pattern, fits, fitsNot] of [
    ['sk-[A-Za-z0-9_-]{4,}', 'sk-aB0-_', 'sk-aB0'],
    ['^sk-(proj|svcacct)-\\w+$', 'sk-proj-a_1', 'sk-other-a'],
    ['\\d{2}-\\d{2,3}', '12-345', '12-3456'],
    ['a.b', 'a+b', 'a\nb'],
    ['[^a-c]?x*', 'dxxx', 'axxx'],
    ['\\$\\([\\d.]+\\)', '$(1.2)', '$()'],
    ['(?:a|b)+c', 'abac', 'abad'],
    ['(a?){3}', 'aa', 'aaaa'],
    ['', '', 'a'],
  ] as const)
    it(`${pattern} means the whole value`, () => {
      assert.equal(compileKeyPattern(pattern)(fits), true)
      assert.equal(compileKeyPattern(pattern)(fitsNot), false)
      assert.equal(compileKeyPattern(pattern)(`${fits}\n`), false)
    })

  for (const pattern of [
    '(a)\\1',
    '(?=a)',
    '(?<!a)',
    '(?<name>a)',
    'a**',
    'a+?',
    '(a',
    'a)',
    '[a',
    '[]',
    'a{2,1}',
    'a{',
    '*a',
    'a\\',
    '\\bword',
    '\\p{L}',
    'a^b',
    '((a{99}){99}){99}',
    '((){9999}){9999}',
  ])
    it(`is not ${pattern}`, () => {
      assert.throws(() => compileKeyPattern(pattern), KeyPatternError)
    })

  it('agrees with the regular expressions of the language', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '[ab]',
      '[^a]',
      '.',
      '\\d',
      '(a|b0)',
      '(?:ab)',
      'a?',
      'b*',
      '(a|ab)+',
      'a{1,2}',
      '|',
    )
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }),
        fc.string({ unit: fc.constantFrom('a', 'b', '0'), maxLength: 8 }),
        (parts, value) => {
          const pattern = parts.join('')
          assert.equal(compileKeyPattern(pattern)(value), new RegExp(`^(?:${pattern})$`).test(value))
        },
      ),
    )
  })

  it('stays quick where going back would take for ever', () => {
    const value = `${'a'.repeat(20_000)}!`
    assert.equal(compileKeyPattern('(a+)+')(value), false)
    assert.equal(compileKeyPattern('(a|a)*b')(value), false)
    assert.equal(compileKeyPattern('a*a*a*a*a*a*b')(value), false)
  })

  it('takes nothing longer than 64 KiB for a key', () => {
    assert.equal(compileKeyPattern('a*')('a'.repeat(65_536)), true)
    assert.equal(compileKeyPattern('a*')('a'.repeat(65_537)), false)
  })
})
