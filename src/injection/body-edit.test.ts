import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type BodyEdit, bodyEditOf } from './body-edit.ts'

const KEY = 'sk-"CNRY"\\1'

function editOf(places: readonly string[], type: string, length?: number): BodyEdit {
  const facts = { header: (name: string) => (name === 'content-type' ? type : undefined), length }
  return bodyEditOf(new Map(places.map((place) => [place, KEY])), facts) ?? assert.fail('there is no edit')
}

/** What comes of a text that is read in pieces of these lengths, or that it is refused. */
function through(edit: BodyEdit, text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text)
  const edges = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((a, b) => a - b)
  const parts: Buffer[] = []
  let from = 0
  for (const edge of [...edges, bytes.length]) {
    edit.read(bytes.subarray(from, edge), (part) => parts.push(part))
    from = edge
  }
  return edit.malformed ? 'refused' : Buffer.concat(parts).toString()
}

const JSON_CASES: readonly (readonly [string, string, string, string])[] = [
  ['a member', '/key', '{"key":"x","a":1}', `{"key":${JSON.stringify(KEY)},"a":1}`],
  ['one deep within', '/a/1/b', '{"a":[{"b":"x"},{"b":"x"}]}', `{"a":[{"b":"x"},{"b":${JSON.stringify(KEY)}}]}`],
  ['one whose name is escaped', '/a~1b', '{"a\\u002fb" : "x"}', `{"a\\u002fb" : ${JSON.stringify(KEY)}}`],
  [
    'one behind strings with marks in them',
    '/key',
    '{"a":"}\\",[{","key":""}',
    `{"a":"}\\",[{","key":${JSON.stringify(KEY)}}`,
  ],
  ['nothing where it is no string', '/key', '{"key":{"key":"x"},"a":[1]}', '{"key":{"key":"x"},"a":[1]}'],
  ['nothing where it is not there', '/key', '{"a":{"key":"x"}}', '{"a":{"key":"x"}}'],
  ['nothing of a place that is there twice', '/key', '{"key":"x","k\\u0065y":"attacker"}', 'refused'],
]

const FORM_CASES: readonly (readonly [string, string, string])[] = [
  ['a field', 'a=1&key=x&b=2', `a=1&key=${encodeURIComponent(KEY)}&b=2`],
  ['the last one', 'key=', `key=${encodeURIComponent(KEY)}`],
  ['one whose name is escaped', 'k%65y=x', `k%65y=${encodeURIComponent(KEY)}`],
  ['nothing where it is not there', 'keys=x&key', 'keys=x&key'],
  ['nothing of a field that is there twice', 'key=x&k%65y=attacker', 'refused'],
]

describe('an edit of a body', () => {
  for (const [what, pointer, text, edited] of JSON_CASES) {
    it(`replaces ${what} in JSON, however it is cut`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat(200), { maxLength: 6 }), fc.boolean(), (cuts, hasLength) => {
          const length = hasLength ? Buffer.byteLength(text) : undefined
          assert.equal(through(editOf([pointer], 'application/json; charset=utf-8', length), text, cuts), edited)
        }),
      )
    })
  }

  for (const [what, text, edited] of FORM_CASES) {
    it(`replaces ${what} in a form, however it is cut`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat(100), { maxLength: 6 }), fc.boolean(), (cuts, hasLength) => {
          const length = hasLength ? text.length : undefined
          assert.equal(through(editOf(['key'], 'application/x-www-form-urlencoded', length), text, cuts), edited)
        }),
      )
    })
  }

  it('knows how long the body becomes as soon as all is found, and lets the rest flow', () => {
    const [begun, rest] = ['{"key":"xy","long":"', `${'z'.repeat(3_000_000)}"}`]
    const edit = editOf(['/key'], 'application/json', begun.length + rest.length)
    let given = 0
    const take = (part: Buffer) => {
      given += part.length
    }
    edit.read(Buffer.from(begun.slice(0, 9)), take)
    assert.deepEqual([edit.lengthChange, given], [undefined, 0], 'what is replaced is not read to its end')
    edit.read(Buffer.from(begun.slice(9)), take)
    assert.equal(edit.lengthChange, JSON.stringify(KEY).length - '"xy"'.length)
    assert.ok(given > 0)
    edit.read(Buffer.from(rest), take)
    assert.equal(given, begun.length + rest.length + (edit.lengthChange ?? 0))
  })

  it('holds no more than a mebibyte', () => {
    const edit = editOf(['/key'], 'application/json', 3_000_000)
    assert.equal(through(edit, `{"a":"${'z'.repeat(1_100_000)}`), 'refused')
  })

  it('is none where the places cannot be in the body', () => {
    const none = (type: string, coding?: string) => {
      const header = (name: string) =>
        name === 'content-type' ? type : name === 'content-encoding' ? coding : undefined
      return bodyEditOf(new Map([['/key', KEY]]), { header, length: 10 })
    }
    assert.equal(none('text/plain'), undefined)
    assert.equal(none('application/x-www-form-urlencoded'), undefined)
    assert.equal(none('application/json', 'gzip'), undefined)
    assert.ok(none('application/vnd.api+json'))
  })

  it('leaves any JSON the same but for its place', () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.nat(500), { maxLength: 5 }), (text, cuts) => {
        const whole = `{"before":${text},"key":"x","behind":${text}}`
        const edited = through(editOf(['/key'], 'application/json', Buffer.byteLength(whole)), whole, cuts)
        assert.equal(edited, `{"before":${text},"key":${JSON.stringify(KEY)},"behind":${text}}`)
      }),
    )
  })
})
