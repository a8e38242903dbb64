import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { authority } from '../network/index.ts'
import { corporateProxyFor, parseCorporateProxy } from './corporate-proxy.ts'

test('without variables there is no corporate proxy', () => {
  assert.equal(parseCorporateProxy({}), undefined)
  assert.equal(parseCorporateProxy({ HTTPS_PROXY: '', NO_PROXY: '*' }), undefined)
})

test('a proxy is read with its port, its scheme and its credentials, which cannot be printed', () => {
  const settings = parseCorporateProxy({
    https_proxy: 'https://u%40x:CNRYp%3Aw@proxy.corp.test',
    HTTP_PROXY: 'proxy:3128',
  })
  assert.equal(settings?.forHttps?.port, 443)
  assert.equal(settings?.forHttps?.tls, true)
  assert.equal(settings?.forHttps?.authorization?.reveal(), `Basic ${btoa('u@x:CNRYp:w')}`)
  assert.deepEqual([settings?.forHttp?.host, settings?.forHttp?.port, settings?.forHttp?.tls], ['proxy', 3128, false])
  assert.doesNotMatch(inspect(settings, { depth: 9 }) + JSON.stringify(settings), /CNRY|Basic/)
})

for (const value of ['socks5://CNRYu:p@proxy:1080', 'http://', 'http://pro xy', 'file:///etc/passwd', ':::']) {
  test(`${value} is refused without being repeated`, () => {
    assert.throws(
      () => parseCorporateProxy({ HTTPS_PROXY: value }),
      (error: Error) => {
        assert.equal(error.name, 'InvalidRequestError')
        assert.doesNotMatch(error.message, /CNRY/)
        return true
      },
    )
  })
}

const EXCEPTIONS: readonly (readonly [string, string, number, boolean])[] = [
  ['*', 'x.test', 443, true],
  ['x.test', 'x.test', 443, true],
  ['x.test', 'a.x.test', 443, true],
  ['x.test', 'ax.test', 443, false],
  ['.x.test', 'a.x.test', 443, true],
  ['*.x.test', 'a.x.test', 443, true],
  ['X.TEST', 'x.test', 443, true],
  ['x.test:443', 'x.test', 443, true],
  ['x.test:8443', 'x.test', 443, false],
  ['a.test, x.test', 'x.test', 443, true],
  ['10.0.0.1', '10.0.0.1', 443, true],
  ['0.0.1', '10.0.0.1', 443, false],
  ['10.0.0.0/8', '10.1.2.3', 443, true],
  ['10.0.0.0/8', '11.1.2.3', 443, false],
  ['10.0.0.0/99', '10.1.2.3', 443, false],
  ['fd00::/8', 'fd00::1', 443, true],
  ['::1', '::1', 443, true],
  ['', 'x.test', 443, false],
]

for (const [noProxy, host, port, excepted] of EXCEPTIONS) {
  test(`NO_PROXY=${noProxy} ${excepted ? 'excepts' : 'does not except'} ${host}:${port}`, () => {
    const settings = parseCorporateProxy({ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: noProxy })
    assert.equal(corporateProxyFor(settings, 'https', authority(host, port)) === undefined, excepted)
  })
}
