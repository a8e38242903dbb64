import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { describe, it } from 'node:test'
import { root } from './source-files.ts'
import { suitesOf } from './suites.ts'

const found = (rooms: readonly string[], paths: readonly string[] = []) =>
  globSync([...suitesOf(rooms, paths)], { cwd: root }).toSorted()

describe('the suites of a part', () => {
  for (const [rooms, paths, among, notAmong] of [
    [['vault'], [], 'src/daemon/vault/open-vault.test.ts', 'src/daemon/audit'],
    [['daemon/vault'], [], 'src/daemon/vault/open-vault.test.ts', 'src/daemon/audit'],
    [['network'], [], 'src/network/authority.test.ts', 'src/proxy'],
    [[], ['tools/'], 'tools/suites.test.ts', 'src/'],
    [[], ['tools/suites.test.ts'], 'tools/suites.test.ts', 'tools/stale'],
  ] as const)
    it(`are those of ${[...rooms, ...paths].join(' ')} alone`, () => {
      const suites = found(rooms, paths)
      assert.ok(suites.includes(among))
      assert.deepEqual(
        suites.filter((path) => path.startsWith(notAmong)),
        [],
      )
    })

  it('of a room that is not there are none', () => assert.deepEqual(found(['cellar']), []))
})
