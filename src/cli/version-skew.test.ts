import assert from 'node:assert/strict'
import { test } from 'node:test'
import { versionSkew } from './version-skew.ts'

const OWN = { baseUrl: 'http://127.0.0.1:7998', baseUrlIsOwn: true }
const ELSEWHERE = { baseUrl: 'https://broker.example.com', baseUrlIsOwn: false }

test('two versions are told apart by their numbers, with what to do', () => {
  assert.equal(
    versionSkew('0.10.0', '0.9.3', OWN),
    'The daemon is older (0.9.3) than this command line (0.10.0): broker daemon restart',
  )
  assert.match(versionSkew('0.9.3', '0.9.2', ELSEWHERE) ?? '', /: whoever runs https:\/\/broker\.example\.com should/)
  assert.match(
    versionSkew('0.9.9', '1.0.0', OWN) ?? '',
    /^The daemon is newer \(1\.0\.0\).*: update your command line$/,
  )
  for (const same of ['0.9.3', '0.9.3-rc.1', '0.9.3+2', 'nonsense'])
    assert.equal(versionSkew('0.9.3', same, OWN), undefined)
})
