import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'

const CHECK = join(import.meta.dirname, 'check-arrows.ts')
const DOORS = ['protocol', 'schemas', 'client', 'daemon/store', 'daemon/vault']

let house: string

beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), 'broker-arrows-'))
})

afterEach(() => rmSync(house, { recursive: true }))

function build(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(house, dirname(path)), { recursive: true })
    writeFileSync(join(house, path), text)
  }
}

function buildDoors(): void {
  for (const room of DOORS) {
    const behind = 'export interface Shape { readonly size: number }\nexport const thing = 1\n'
    build({
      [`src/${room}/thing.ts`]: behind,
      [`src/${room}/index.ts`]: "export { type Shape, thing } from './thing.ts'\n",
    })
  }
}

function check(): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CHECK], { cwd: house, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

describe('the arrows', () => {
  it('let pass what the table allows, tests whatever they import', () => {
    buildDoors()
    build({
      'src/client/ask.ts':
        "import type { Shape } from '../schemas/index.ts'\nimport { thing } from '../protocol/index.ts'\nexport const ask = (shape: Shape) => shape.size + thing\n",
      'src/client/ask.test.ts':
        "import { thing } from '../daemon/store/index.ts'\nimport { ask } from './ask.ts'\nask({ size: thing })\n",
    })
    const { status, output } = check()
    assert.match(output, /: 0 arrows against the table/)
    assert.equal(status, 0)
  })

  it('find each that the table does not', () => {
    buildDoors()
    build({
      'src/client/store.ts': "import { thing } from '../daemon/store/index.ts'\nexport const a = thing\n",
      'src/client/shape.ts': "import { thing } from '../schemas/index.ts'\nexport const b = thing\n",
      'src/client/behind.ts': "import { thing } from '../protocol/thing.ts'\nexport const c = thing\n",
      'src/client/own.ts': "import { thing } from './index.ts'\nexport const d = thing\n",
      'src/client/sharp.ts': "import { DatabaseSync } from 'node:sqlite'\nexport const e = DatabaseSync\n",
      'src/daemon/vault/up.ts': "import { thing } from '../../client/index.ts'\nexport const f = thing\n",
      'src/client/round.ts': "import { h } from './trip.ts'\nexport const g = () => h\n",
      'src/client/trip.ts': "import { g } from './round.ts'\nexport const h = () => g\n",
    })
    const { status, output } = check()
    const found = [...output.matchAll(/^src\/(\S+) → /gm)].map(([, path]) => path)
    assert.deepEqual([...new Set(found)].toSorted(), [
      'client/behind.ts',
      'client/own.ts',
      'client/round.ts',
      'client/shape.ts',
      'client/sharp.ts',
      'client/store.ts',
      'daemon/vault/up.ts',
    ])
    assert.equal(status, 1)
  })

  it('hold rooms within a room, and what is right above them', () => {
    buildDoors()
    build({
      'src/proxy/tls/leaf.ts': "import { opened } from '../dial.ts'\nexport const leaf = opened\n",
      'src/proxy/tls/index.ts': "export { leaf } from './leaf.ts'\n",
      'src/proxy/dial.ts': "import { thing } from '../protocol/index.ts'\nexport const opened = thing\n",
      'src/proxy/door.ts': "import { leaf } from './tls/index.ts'\nexport const a = leaf\n",
      'src/proxy/behind.ts': "import { leaf } from './tls/leaf.ts'\nexport const b = leaf\n",
      'src/run/around.ts': "import { leaf } from '../proxy/tls/index.ts'\nexport const c = leaf\n",
    })
    const { status, output } = check()
    const found = [...output.matchAll(/^src\/(\S+) → /gm)].map(([, path]) => path)
    assert.deepEqual([...new Set(found)].toSorted(), ['proxy/behind.ts', 'proxy/tls/leaf.ts', 'run/around.ts'])
    assert.equal(status, 1)
  })

  it('are not taken for kept where no module was found', () => {
    build({ 'src/empty.txt': '' })
    const { status, output } = check()
    assert.match(output, /found no module of src/)
    assert.notEqual(status, 0)
  })
})
