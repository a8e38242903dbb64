import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signInnerRun, verifyInnerRun } from './inner-run.ts'
import { generateSigningKey } from './signing-key.ts'

const outer = generateSigningKey()
const { did } = generateSigningKey()
const run = { within: '6d0c8a9e-0000-4000-8000-000000000001', did }

test('an outer run says of one key that it is started within it, and of no other key or run', () => {
  const signature = signInnerRun(outer, run)
  assert.equal(verifyInnerRun(outer.did, run, signature), true)
  assert.equal(verifyInnerRun(outer.did, { ...run, did: generateSigningKey().did }, signature), false)
  assert.equal(verifyInnerRun(outer.did, { ...run, within: run.within.replace('1', '2') }, signature), false)
  assert.equal(verifyInnerRun(generateSigningKey().did, run, signature), false)
  for (const malformed of ['', 'x', `${signature}A`, '*'.repeat(86)])
    assert.equal(verifyInnerRun(outer.did, run, malformed), false, malformed)
})
