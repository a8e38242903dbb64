import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { width } from './line-editor.ts'
import { tableLines } from './table.ts'

const HEADER = ['TIME', 'AGENT', 'WHAT']
const ROWS = [
  ['2026-11-22 10:00:00', 'an-agent-of-a-long-name', 'GET api.example.com/v1/models 403: it is not allowed'],
  ['2026-11-22 10:00:01', 'ada', '-'],
]
const texts = (columns: number, narrowing = {}) =>
  tableLines(HEADER, ROWS, { columns, ...narrowing }).map(({ text }) => text)

describe('a table', () => {
  it('is one line a row, whole, where there is room', () => {
    assert.deepEqual(texts(Number.POSITIVE_INFINITY, { below: 'WHAT', shorten: ['AGENT'] }), [
      'TIME                 AGENT                    WHAT',
      '2026-11-22 10:00:00  an-agent-of-a-long-name  GET api.example.com/v1/models 403: it is not allowed',
      '2026-11-22 10:00:01  ada                      -',
    ])
  })

  it('has its last column below where that does not fit, and shortens what may be', () => {
    assert.deepEqual(texts(40, { below: 'WHAT', shorten: ['AGENT'] }), [
      'TIME                 AGENT',
      '2026-11-22 10:00:00  an-agent-of-a-long…',
      '    GET api.example.com/v1/models 403: …',
      '2026-11-22 10:00:01  ada',
    ])
  })

  it('shortens nothing that may not be', () => {
    assert.equal(texts(20, { shorten: ['WHAT', 'NONE'] })[1], '2026-11-22 10:00:00  an-agent-of-a-long-name  GET api…')
    assert.deepEqual(texts(20), texts(Number.POSITIVE_INFINITY))
  })

  it('counts cells and not characters', () => {
    const rows = [
      ['東京の接続', 'x'],
      ['café', 'y'],
      ['🔑🔑🔑🔑🔑🔑', 'z'],
    ]
    const lines = tableLines(['NAME', 'B'], rows, { columns: 12, shorten: ['NAME'] })
    assert.deepEqual(
      lines.slice(1).map(({ text }) => width(text.slice(0, -1))),
      [11, 11, 11],
    )
    assert.equal(lines[3]?.text, '🔑🔑🔑🔑…  z')
  })
})
