import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { KNOWS_DESCENDANTS } from './descendants.ts'

test('without a descriptor left no process counts as gone, and none as one of the run', {
  skip: !KNOWS_DESCENDANTS && 'this system does not tell which processes belong to a run',
}, () => {
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 60 && exec "$0" --input-type=module -e "$1"', process.execPath, LOOK_WITHOUT_DESCRIPTORS],
    { encoding: 'utf8' },
  )

  assert.deepEqual([stdout, stderr], ['true, then EMFILE, EMFILE, false\n', ''])
})

const LOOK_WITHOUT_DESCRIPTORS = `
  import { openSync, readFileSync } from 'node:fs'
  import { Descendants, isRunning } from '${new URL('./descendants.ts', import.meta.url).href}'
  import { Secret } from '${new URL('../protocol/index.ts', import.meta.url).href}'
  const descendants = new Descendants(new Secret('CNRYmarker'))
  descendants.setRoot(process.pid)
  const [self] = descendants.living()
  const before = isRunning(self)
  try { for (;;) openSync('/dev/null') } catch {}
  const whyNot = (look) => { try { return look() } catch (error) { return error.code } }
  const seen = [() => isRunning(self), () => descendants.living(), () => descendants.ownConnection(1, 2)].map(whyNot)
  console.log(before + ', then ' + seen.join(', '))`
