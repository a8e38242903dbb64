import assert from 'node:assert/strict'
import { it } from 'node:test'
import { seatbeltProfile } from './seatbelt.ts'

const PLACES = {
  hidden: { home: '/Users/ada/.broker', instead: '/Users/ada/.broker/client/runs/r1', keyFile: '/Users/ada/key "one"' },
  credentials: ['/Users/ada/.ssh'],
  readable: ['/Users/ada/.ssh/config'],
  writable: ['/Users/ada/work'],
  reached: [50_000],
  shared: [3000],
}

// No machine with macOS has run it here: what it says is looked at, and not what comes of it.
it('says for macOS what is refused, and after that what is allowed all the same', () => {
  const lines = seatbeltProfile(PLACES).split('\n')
  const at = (text: string) => {
    const found = lines.findIndex((line) => line.includes(text))
    assert.notEqual(found, -1, text)
    return found
  }

  assert.deepEqual(lines.slice(0, 2), ['(version 1)', '(allow default)'])
  assert.ok(at('(deny network*)') < at('(remote ip "localhost:50000")'))
  assert.ok(at('(deny file-write*)') < at('(allow file-write* (subpath "/Users/ada/work"))'))
  assert.ok(
    at('(allow file-write* (subpath "/Users/ada/work"))') <
      at('(deny file-read* file-write* (subpath "/Users/ada/.broker"))'),
  )
  assert.ok(
    at('(deny file-read* file-write* (subpath "/Users/ada/.ssh"))') <
      at('(allow file-read* (subpath "/Users/ada/.ssh/config"))'),
  )
  assert.ok(
    at('(subpath "/Users/ada/.broker"))') < at('(allow file-read* (subpath "/Users/ada/.broker/client/runs/r1"))'),
  )
  assert.equal(lines.filter((line) => line.includes('network-inbound')).length, 1)
  at('(subpath "/Users/ada/key \\"one\\"")')
})

it('has as many parentheses that open as such that close, on each line', () => {
  for (const line of seatbeltProfile(PLACES).split('\n')) {
    assert.equal(line.split('(').length, line.split(')').length, line)
  }
})
