import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authority } from './authority.ts'
import { isExcepted, parseNoProxy } from './no-proxy.ts'

const ENTRIES: readonly (readonly [text: string, excepted: readonly string[], others: readonly string[]])[] = [
  ['corp.test', ['corp.test:443', 'a.corp.test:80'], ['xcorp.test:443', 'corp.test.evil.test:443']],
  ['.corp.test', ['corp.test:443', 'a.corp.test:80'], ['xcorp.test:443']],
  ['*.CORP.test', ['corp.test:443', 'a.corp.test:80'], ['xcorp.test:443']],
  ['corp.test:8443', ['corp.test:8443', 'a.corp.test:8443'], ['corp.test:443']],
  ['10.0.0.0/8', ['10.1.2.3:443'], ['11.0.0.1:443', '10.corp.test:443']],
  ['fd00::/8', ['[fd00::7]:443'], ['[fe80::7]:443', '10.0.0.1:443']],
  ['[fd00::]/8', ['[fd00::7]:443'], ['[fe80::7]:443']],
  ['10.1.2.3', ['10.1.2.3:443'], ['10.1.2.4:443', 'a.10.1.2.3.test:443']],
  ['10.1.2.3:80', ['10.1.2.3:80'], ['10.1.2.3:443']],
  ['::1', ['[::1]:443'], ['[::2]:443']],
  ['[::1]:8080', ['[::1]:8080'], ['[::1]:443']],
  ['*', ['anything.test:1', '10.0.0.1:2'], []],
  ['10.0.0.0/99', [], ['10.0.0.1:443']],
  ['a.test\tb.test, c.test', ['a.test:1', 'b.test:1', 'c.test:1'], ['d.test:1']],
  ['', [], ['x.test:443']],
]

describe('NO_PROXY', () => {
  for (const [text, excepted, others] of ENTRIES)
    it(`"${text}" excepts ${excepted.join(', ') || 'nothing'}`, () => {
      const exceptions = parseNoProxy(text)
      assert.deepEqual(
        [...excepted, ...others].filter((target) => isExcepted(exceptions, targetOf(target))),
        excepted,
      )
    })

  for (const [text, pattern, may] of [
    ['eu.api.test', '*.api.test', true],
    ['api.test:443', '*.api.test', true],
    ['127.0.0.0/8', '127.0.0.1', true],
    ['10.0.0.0/8', '*.api.test', false],
    ['xapi.test', '*.api.test', false],
  ] as const)
    it(`"${text}" ${may ? 'may' : 'cannot'} take ${pattern} past a proxy`, () => {
      assert.equal(parseNoProxy(text)[0]?.mayExcept(pattern), may)
    })
})

function targetOf(text: string) {
  const { hostname, port } = new URL(`http://${text}`)
  return authority(hostname, Number(port || 80))
}
