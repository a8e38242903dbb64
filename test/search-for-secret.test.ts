import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { deflateSync, gzipSync } from 'node:zlib'
import { filesBelow, markedSecret, processTraces, searchForSecrets } from './search-for-secret.ts'

const SECRET = markedSecret('sk-')
const codes = SECRET.split('').map((letter) => letter.charCodeAt(0))
const hex = (code: number) => code.toString(16)
const wrapped = (text: string, newline: string) => text.replace(/.{20}/g, `$&${newline}`)

const SPELLINGS: readonly { readonly name: string; readonly text: Uint8Array | string }[] = [
  { name: 'plain', text: `Bearer ${SECRET}` },
  { name: 'its first letters', text: SECRET.slice(0, 14) },
  { name: 'eleven letters of it', text: SECRET.slice(9, 20) },
  { name: 'its last letters', text: `…${SECRET.slice(-8)}` },
  { name: 'lower case', text: SECRET.toLowerCase() },
  { name: 'base64, first alignment', text: btoa(SECRET) },
  { name: 'base64, second alignment', text: btoa(`a${SECRET}`) },
  { name: 'base64, third alignment', text: btoa(`ab${SECRET}:`) },
  { name: 'base64 of Basic credentials', text: `Basic ${btoa(`AC0123456789:${SECRET}`)}` },
  { name: 'base64url', text: Buffer.from(`ÿþ${SECRET}`).toString('base64url') },
  { name: 'base64 in lines', text: wrapped(btoa(SECRET), '\n') },
  { name: 'base64 in lines inside JSON', text: wrapped(btoa(SECRET), '\\r\\n') },
  { name: 'hex', text: Buffer.from(SECRET).toString('hex') },
  { name: 'hex in capitals', text: Buffer.from(SECRET).toString('hex').toUpperCase() },
  { name: 'percent', text: codes.map((code) => `%${hex(code)}`).join('') },
  { name: 'percent in capitals', text: codes.map((code) => `%${hex(code).toUpperCase()}`).join('') },
  { name: 'JSON escapes', text: codes.map((code) => `\\u00${hex(code)}`).join('') },
  { name: 'JSON escapes for one letter', text: SECRET.replace('N', '\\u004E') },
  { name: 'HTML entities', text: codes.map((code) => `&#${code};`).join('') },
  { name: 'HTML entities in hex', text: codes.map((code) => `&#x${hex(code)};`).join('') },
  { name: 'reversed', text: SECRET.split('').reverse().join('') },
  { name: 'UTF-16', text: Buffer.from(SECRET, 'utf16le') },
  { name: 'gzip', text: Buffer.concat([Buffer.from('before'), gzipSync(`x ${SECRET}`), Buffer.from('after')]) },
  { name: 'gzip cut off', text: gzipSync(`${SECRET} ${'filler '.repeat(40)}`).subarray(0, -6) },
  { name: 'gzip of base64', text: gzipSync(btoa(SECRET)) },
  { name: 'deflate', text: deflateSync(SECRET, { level: 9 }) },
]

describe('the search for a secret', () => {
  for (const { name, text } of SPELLINGS) {
    it(`finds it as ${name}`, () => {
      const padded = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(text), Buffer.from('"}')])

      assert.match(searchForSecrets([{ where: 'here', bytes: padded }], [SECRET])[0] ?? 'nothing', /^here: CNRY/)
    })
  }

  it('tells which of several secrets it was, and where', () => {
    const other = markedSecret('re_')

    const found = searchForSecrets(
      [
        { where: 'a clean place', bytes: 'CNRY alone is nothing' },
        { where: 'a file', bytes: `x${other}` },
      ],
      [SECRET, other],
    )

    assert.deepEqual(found, [`a file: ${other.slice(3, 15)}… plain`])
  })

  it('finds what somebody else has made, without a marker', () => {
    const verifier = randomBytes(32).toString('base64url')

    const found = searchForSecrets([{ where: 'here', bytes: `&code_verifier=${verifier.slice(10)}` }], [verifier])

    assert.deepEqual(found, [`here: ${verifier.slice(0, 12)}… plain`])
  })

  it('looks into every file of a folder, and at the names', () => {
    const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
    try {
      mkdirSync(join(folder, 'deep', 'er'), { recursive: true })
      writeFileSync(join(folder, 'deep', 'er', '.hidden'), SECRET)
      writeFileSync(join(folder, SECRET), '')

      assert.equal(searchForSecrets(filesBelow(folder), [SECRET]).length, 2)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('looks at the arguments and the environment of a process', () => {
    const traces = processTraces(process.pid, 'this test')

    assert.deepEqual(
      traces.map(({ where }) => where),
      ['cmdline of this test', 'environ of this test'],
    )
    assert.ok(traces.every(({ bytes }) => bytes.length > 0))
  })
})
