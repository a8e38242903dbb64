import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { overlap } from '../../network/index.ts'
import { definitionFolder } from './custom-definitions.ts'
import { hostNeighbours } from './host-neighbours.ts'
import { openProviders } from './open-providers.ts'

test('whatever overlaps, among all that is shipped, is among the neighbours', () => {
  const bundledDir = join(import.meta.dirname, '../../../providers')
  const all = openProviders({ bundledDir, custom: definitionFolder(join(bundledDir, 'none')) }).list()
  const neighbours = hostNeighbours(all)
  let pairs = 0
  for (const one of all) {
    const near = new Set(neighbours.of(one))
    const overlapping = all.filter(
      (other) => other !== one && one.hosts.some((ours) => other.hosts.some((theirs) => overlap(ours, theirs))),
    )
    pairs += overlapping.length
    assert.deepEqual(
      overlapping.filter((other) => !near.has(other)),
      [],
    )
  }
  assert.ok(pairs > 0)
})
