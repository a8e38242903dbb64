import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { whyNoIsolation } from '../../test/isolation-here.ts'
import { makeSandbox } from './sandbox.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('a sandbox has Broker itself, also where its folder lies in one that is covered', {
  skip: whyNoIsolation(),
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'broker-sandbox-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [home, instead] = [join(folder, 'home'), join(folder, 'instead')]
  for (const made of [home, instead]) mkdirSync(made)
  const sandbox = await makeSandbox({
    hidden: { home, instead },
    folder,
    // As where temporary files lie beside it.
    needed: [join(ROOT, '..')],
    environment: process.env,
    readable: [],
    writable: [],
    userFolder: homedir(),
    ports: [],
  })
  const [program, ...args] = sandbox.enclosed([process.execPath, '-p', `require('${ROOT}package.json').name`], {})
  assert.equal(execFileSync(program, args, { encoding: 'utf8' }).trim(), 'broker')
})
