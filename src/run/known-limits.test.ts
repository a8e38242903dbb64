import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { limitsOf } from './known-limits.ts'

const SEEN: readonly (readonly [string, readonly [string, ...string[]]])[] = [
  ['s3cmd', ['s3cmd', 'ls']],
  ['svn', ['/usr/bin/svn', 'checkout', 'https://svn.example/']],
  ['http.client (Python)', ['python3', '-c', 'import http.client; http.client.HTTPSConnection("api.example")']],
  ['WebSockets of Bun', ['bun', '-e', 'new WebSocket("wss://echo.example")']],
  ["PHP's streams", ['php8.2', '-r', 'echo file_get_contents("https://api.example/");']],
]

for (const [name, command] of SEEN) {
  test(`${command.slice(0, 2).join(' ')} is told of: ${name}`, () => {
    assert.deepEqual(
      limitsOf(command, 'linux').map((limit) => limit.name),
      [name],
    )
  })
}

test('the program is seen behind those that start it, and by the first line of a script', (t) => {
  const script = join(folder(t), 'agent')
  writeFileSync(script, '#!/usr/bin/env python3\nimport asyncio, aiohttp\n', { mode: 0o700 })

  for (const command of [[script], ['env', 'A=b', 'python3', script], ['timeout', '5', 'nice', script]])
    assert.equal(limitsOf(command as [string], 'linux')[0]?.name, 'aiohttp (Python)', command.join(' '))
})

const UNTOLD: readonly (readonly [string, ...string[]])[] = [
  ['curl', 'https://api.example/'],
  ['python3', '-c', 'import httpx'],
  ['python3', '-c', 'import aiohttp; aiohttp.ClientSession(trust_env=True)'],
  ['php', '-r', 'curl_init("https://api.example/");'],
  ['python3', '-c', 'from http.client import HTTPException'],
  ['docker', '--version'],
  ['docker', 'ps'],
  ['java', '-jar', 'app.jar'],
  ['gh', 'api', '/user'],
]

for (const command of UNTOLD) {
  test(`nothing is told of: ${command.join(' ')}`, () => {
    assert.deepEqual(limitsOf(command, 'linux'), [])
  })
}

test('a script is looked into by its name, and one that is not there is no matter', (t) => {
  const script = join(folder(t), 'agent.py')
  writeFileSync(script, 'import asyncio\nfrom aiohttp import ClientSession\n')

  assert.equal(limitsOf(['python3', '-u', script], 'linux')[0]?.name, 'aiohttp (Python)')
  assert.deepEqual(limitsOf(['python3', `${script}.py`], 'linux'), [])
})

test('some things are so on one system alone', () => {
  assert.equal(limitsOf(['gh', 'api', '/user'], 'darwin')[0]?.name, 'Go programs on macOS')
  assert.match(limitsOf(['mvn', 'verify'], 'darwin')[0]?.name ?? '', /^Java/)
})

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}
