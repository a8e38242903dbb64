import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { Secret } from '../protocol/index.ts'
import type { Place } from './place.ts'
import { fromWire, toPlainWire, toWire } from './wire.ts'

const place = (kind: Place['in'], name: string, more: Partial<Place> = {}): Place => ({
  in: kind,
  name,
  value: new Secret('CNRYkey'),
  ...more,
})
const resolved = (...places: readonly Place[]) => ({ provider: 'prov', connection: 'default', places })

describe('a resolved credential', () => {
  it('goes over the wire and back, each value once', () => {
    const all = resolved(
      place('header', 'X-Key'),
      place('header', 'X-Version', { value: new Secret('2'), onlyIfAbsent: true }),
      place('basic', 'Authorization'),
      place('query', 'key'),
      place('path', '/bot'),
      place('cookie', 'session'),
      { in: 'header', name: 'X-Own' },
    )
    const wire = { ...toWire({ ...all, version: 7, expiresAt: 1_700_000_000_000 }) }
    assert.equal(JSON.stringify(wire).split('CNRYkey').length, 6)
    const back = fromWire(wire)
    assert.deepEqual(toWire(back), wire)
    assert.equal(back.expiresAt, 1_700_000_000_000)
  })

  it('prints nothing of itself on either side', () => {
    const one = fromWire(toWire(resolved(place('header', 'Authorization'))))
    assert.doesNotMatch(`${inspect(one, { depth: 9 })}${JSON.stringify(one)}`, /CNRY/)
  })

  it('is headers and parameters to a program, with its places only where those cannot say all', () => {
    const { headers, query, places } = toPlainWire(resolved(place('basic', 'Authorization'), place('query', 'key')))
    assert.deepEqual([headers, query, places], [{ Authorization: 'Basic Q05SWWtleQ==' }, { key: 'CNRYkey' }, undefined])
    for (const odd of [place('path', '/bot'), place('cookie', 'session'), place('header', 'X', { onlyIfAbsent: true })])
      assert.equal(toPlainWire(resolved(odd)).places?.length, 1)
  })
})
