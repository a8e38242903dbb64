import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Broken, parseIni, parseJson, parseToml, parseYaml, type Tree } from './structured-text.ts'

const LARGE = 250_000

/** A hostile text of each kind, and where it is said to break. */
const BROKEN: readonly (readonly [
  what: string,
  parse: (text: string) => Tree | Broken,
  text: string,
  line?: number | undefined,
])[] = [
  ['JSON with a comma too many', parseJson, '{\n"a": "CNRY",,\n}', 2],
  ['JSON without a colon', parseJson, '{\n// mine\n"a" "CNRY"\n}', 3],
  ['JSON with a text that is not closed', parseJson, '{\n"a": "CNRY\n}', 2],
  ['JSON with a comment that is not closed', parseJson, '{\n"a": "CNRY"\n} /* b', 3],
  ['JSON nested without end', parseJson, '{"a":'.repeat(LARGE), 1],
  ['JSON cut off', parseJson, '{\n"a": "CNRY', 2],
  ['JSON that is a list', parseJson, '["CNRY"]', 1],
  ['YAML with a tab', parseYaml, 'a:\n\tb: CNRY\n', 2],
  ['YAML with an open quote', parseYaml, 'a: 1\nb: "CNRY\n', 3],
  ['YAML of prose', parseYaml, 'CNRY', 1],
  ['YAML nested without end', parseYaml, '['.repeat(LARGE), 1],
  ['YAML of dashes', parseYaml, '- '.repeat(LARGE / 2), 1],
  ['YAML with a bomb of aliases', parseYaml, bomb(), undefined],
  ['YAML with aliases in thousands', parseYaml, `a: &a x\n${'b: *a\n'.repeat(20_000)}`, undefined],
  ['YAML larger than is read', parseYaml, `a: ${'x'.repeat(300_000)}`, undefined],
  ['TOML with a value without quotes', parseToml, 'a = "b"\nc = CNRY\n', 2],
  ['TOML with a name twice', parseToml, 'a = "b"\na = "CNRY"\n', 2],
  ['TOML nested without end', parseToml, `a = ${'['.repeat(LARGE)}`, 1],
  ['INI without a section', parseIni, 'a = CNRY\n', 1],
  ['INI with a line that is none', parseIni, '[a]\nb = 1\nCNRY\n', 3],
]

describe('text of structure', () => {
  for (const [what, parse, text, line] of BROKEN) {
    it(`breaks at its line, in time: ${what}`, { timeout: 10_000 }, () => {
      const parsed = parse(text)
      assert.ok(parsed instanceof Broken)
      assert.equal(parsed.line, line)
      assert.doesNotMatch(JSON.stringify(parsed) + parsed.inWords, /CNRY/)
    })
  }

  it('may be empty', () => {
    for (const parse of [parseJson, parseYaml, parseToml, parseIni]) assert.deepEqual({ ...parse('\n') }, {})
  })

  it('is JSON with the comments and the commas that editors take', () => {
    const text = '\uFEFF// mine\n{\n  "a": { "b": "//c", /* d */ "e": ["f",], },\n}\n'
    assert.deepEqual(parseJson(text), { a: { b: '//c', e: ['f'] } })
  })

  it('keeps names that objects have as names', () => {
    for (const parsed of [
      parseJson('{"__proto__": {"a": "b"}}'),
      parseJson('{"__proto__": {"a": "b"},}'),
      parseYaml('__proto__:\n  a: b\n'),
    ]) {
      assert.deepEqual(Object.keys(parsed), ['__proto__'])
      assert.equal(Reflect.get({}, 'a'), undefined)
    }
  })

  it('is YAML with merges, tags of its own, documents behind the first, and many names', { timeout: 10_000 }, () => {
    assert.deepEqual(parseYaml('a: &a {x: 1}\nb:\n  <<: *a\n  y: !secret z\n---\nc: 1\n'), {
      a: { x: 1 },
      b: { x: 1, y: 'z' },
    })
    const many = Array.from({ length: 25_000 }, (_, at) => `k${at}: 1`).join('\n')
    assert.equal(Object.keys(parseYaml(many)).length, 25_000)
  })

  it('is INI as Python reads it: comments, both separators, indented options and what goes on below one', () => {
    const text =
      '# one\n[distutils]\nindex-servers =\n    pypi\n    other\n\n[pypi]\n  UserName: ada\n  password = a=b:c\n'
    assert.deepEqual(parseIni(text), {
      distutils: { 'index-servers': '' },
      pypi: { username: 'ada', password: 'a=b:c' },
    })
  })
})

/** Ten levels of ten aliases each. */
function bomb(): string {
  const levels = Array.from(
    { length: 10 },
    (_, at) =>
      `l${at}: &l${at} [${
        at === 0
          ? 'x'
          : Array(10)
              .fill(`*l${at - 1}`)
              .join(',')
      }]`,
  )
  return `${levels.join('\n')}\n`
}
