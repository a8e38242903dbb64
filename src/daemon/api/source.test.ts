import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isFromHere, sourceReader } from './source.ts'

const PROXY = '10.0.0.5'
const OTHER_PROXY = 'fd00:1::5'
const sourceOf = sourceReader(['10.0.0.0/24', 'fd00:1::/64', '192.0.2.200'])

type Lines = readonly (readonly [string, string])[]

const request = (peer: string | undefined, lines: Lines = []) => {
  const headers = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value]))
  return { socket: { remoteAddress: peer }, rawHeaders: lines.flat(), headers } as unknown as IncomingMessage
}
const through = (...lines: Lines) => sourceOf(request(PROXY, lines))

describe('the source of a request', () => {
  const peers = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::9', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ] as const
  for (const [peer, source] of peers) {
    it(`is ${source} where ${peer} calls`, () => assert.equal(sourceOf(request(peer)), source))
  }

  it('is one for all whose socket is gone', () => assert.equal(sourceOf(request(undefined)), 'unknown'))

  it('is what a stranger calls from, whatever headers it sends', () => {
    for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Real-IP', 'Client-IP', 'True-Client-IP']) {
      const value = name === 'Forwarded' ? 'for=192.0.2.1' : '192.0.2.1'
      assert.equal(sourceOf(request('203.0.113.7', [[name, value]])), '203.0.113.7', name)
      assert.equal(sourceReader([])(request('127.0.0.1', [[name, value]])), '127.0.0.1', name)
    }
  })

  const told = [
    ['for=192.0.2.43', '192.0.2.43'],
    ['For=192.0.2.43', '192.0.2.43'],
    ['for="192.0.2.43:47011"', '192.0.2.43'],
    ['for=192.0.2.43:47011', PROXY],
    ['for="[2001:db8:cafe::17]:4711"', '2001:db8:cafe:0::/64'],
    ['for="[2001:db8:cafe::17]"', '2001:db8:cafe:0::/64'],
    ['for="[::ffff:192.0.2.43]"', '192.0.2.43'],
    ['for="192.0.2.43:_port"', '192.0.2.43'],
    ['for=192.0.2.43;proto=https;by=203.0.113.43;host="a,b;c"', '192.0.2.43'],
    ['proto=http;for=192.0.2.43', '192.0.2.43'],
    ['for="192.0.2.\\43"', '192.0.2.43'],
    ['for=198.51.100.1, for=192.0.2.43', '192.0.2.43'],
    ['for=198.51.100.1,for=192.0.2.43, for=10.0.0.9', '192.0.2.43'],
    ['for=198.51.100.1,for=192.0.2.43, for="[fd00:1::9]"', '192.0.2.43'],
    ['for="for=198.51.100.1, for=198.51.100.2", for=192.0.2.43', '192.0.2.43'],
  ] as const
  for (const [value, source] of told) {
    it(`is ${source} by Forwarded: ${value}`, () => assert.equal(through(['Forwarded', value]), source))
  }

  const untold = [
    '',
    ' ',
    ',',
    'for',
    'for=',
    'for=unknown',
    'for=_hidden',
    'for="_SEVKISEK"',
    'for=256.0.0.1',
    'for=1.2.3',
    'for=0x7f.1',
    'for=2001:db8::1',
    'for="2001:db8::1"',
    'for="[2001:db8::1"',
    'for="[192.0.2.1]"',
    'for="192.0.2.43',
    'for=192.0.2.43,',
    'for=192.0.2.43;',
    'for = 192.0.2.43',
    'for=192.0.2.43 for=192.0.2.44',
    'for=192.0.2.43;for=192.0.2.44',
    'by=192.0.2.43',
    'for=localhost',
    'for="192.0.2.43:99999999"',
    'for=192.0.2.43\u0000',
    'f\u00f6r=192.0.2.43',
  ]
  for (const value of untold) {
    it(`is the proxy where it says ${JSON.stringify(value)}`, () => assert.equal(through(['Forwarded', value]), PROXY))
  }

  it('is by the last line of several, which the nearest proxy wrote', () => {
    assert.equal(through(['forwarded', 'for=198.51.100.1'], ['FORWARDED', 'for=192.0.2.43']), '192.0.2.43')
    assert.equal(through(['Forwarded', 'for="198.51.100.1'], ['Forwarded', 'for=192.0.2.43']), '192.0.2.43')
    assert.equal(through(['Forwarded', 'for=192.0.2.43'], ['Forwarded', 'for=10.0.0.9']), '192.0.2.43')
  })

  it('is the proxy that names nobody, where another one names that', () => {
    const value = `for=_hidden, for="[${OTHER_PROXY}]"`
    assert.equal(through(['Forwarded', value]), 'fd00:1:0:0::/64')
    assert.equal(through(['Forwarded', 'for=10.0.0.9']), '10.0.0.9')
  })

  it('is by X-Forwarded-For where a proxy sends that alone', () => {
    const name = 'X-Forwarded-For'
    assert.equal(through([name, '192.0.2.43']), '192.0.2.43')
    assert.equal(through([name, '198.51.100.1, 192.0.2.43 , 10.0.0.9']), '192.0.2.43')
    assert.equal(through([name, '192.0.2.43:5678']), '192.0.2.43')
    assert.equal(through([name, '2001:db8:cafe::17']), '2001:db8:cafe:0::/64')
    assert.equal(through([name, '[2001:db8:cafe::17]:443']), '2001:db8:cafe:0::/64')
    assert.equal(through([name, '198.51.100.1'], [name, '192.0.2.43']), '192.0.2.43')
    for (const value of ['', 'unknown', '192.0.2.43,', 'x', '1.2.3.4.5'])
      assert.equal(through([name, value]), PROXY, value)
  })

  it('is the proxy where the two headers differ: one of them was sent by the client', () => {
    const own = ['X-Forwarded-For', '192.0.2.43'] as const
    assert.equal(through(own, ['Forwarded', 'for=198.51.100.1']), PROXY)
    assert.equal(through(own, ['Forwarded', 'for=_x']), PROXY)
    assert.equal(through(own, ['Forwarded', 'for=192.0.2.43']), '192.0.2.43')
  })

  it('is never what a client wrote on the left, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const line = text.replace(/[\r\n\0]/g, '')
        assert.equal(through(['Forwarded', line], ['Forwarded', 'for=192.0.2.43']), '192.0.2.43')
        assert.ok(['192.0.2.43', PROXY].includes(through(['Forwarded', `${line}, for=192.0.2.43`])), line)
        assert.equal(through(['X-Forwarded-For', `${line}, 192.0.2.43`]), '192.0.2.43')
      }),
    )
  })

  it('is read in one pass, however long the header is', () => {
    const began = performance.now()
    for (const part of ['for="\\\\', 'for=1;', ' ', 'for="a', 'a=b;', '"', 'for=1.1.1.1,']) {
      through(['Forwarded', part.repeat(16_384 / part.length)])
    }
    assert.ok(performance.now() - began < 500)
  })
})

describe('the list of proxies', () => {
  it('is addresses and CIDRs', () => {
    const near = sourceReader(['127.0.0.1', '::1', '::ffff:10.1.1.1', '172.16.0.0/12'])
    for (const peer of ['127.0.0.1', '::1', '10.1.1.1', '172.31.2.3']) {
      assert.equal(near(request(peer, [['Forwarded', 'for=192.0.2.43']])), '192.0.2.43', peer)
    }
    assert.equal(near(request('127.0.0.2', [['Forwarded', 'for=192.0.2.43']])), '127.0.0.2')
  })

  for (const text of [
    'localhost',
    '10.0.0.0/33',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0',
    '*',
    '::ffff:10.0.0.0/104',
  ]) {
    it(`refuses ${text}`, () => assert.throws(() => sourceReader([text]), { name: 'InvalidRequestError' }))
  }
})

describe('a request from this machine', () => {
  it('comes by loopback, and by no proxy', () => {
    const host = ['host', '127.0.0.1:7998'] as const
    for (const peer of ['127.0.0.1', '::1', '::ffff:127.0.0.9']) assert.ok(isFromHere(request(peer, [host])), peer)
    for (const peer of ['192.0.2.1', undefined, '::2']) assert.ok(!isFromHere(request(peer, [host])), String(peer))
    for (const other of ['broker.example', '127.0.0.1.evil.test', '10.0.0.1:7998']) {
      assert.ok(!isFromHere(request('127.0.0.1', [['host', other]])), other)
    }
    for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via']) {
      assert.ok(!isFromHere(request('127.0.0.1', [host, [name, '127.0.0.1']])), name)
    }
  })
})
