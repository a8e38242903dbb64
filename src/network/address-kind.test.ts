import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressKind } from './address-kind.ts'

const KINDS = {
  public: ['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'],
  private: [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    'fc00::1',
    'fe80::1%eth0',
    'ff02::1',
    '2001:db8::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2002:7f00:1::',
    'not an address',
    '',
  ],
  metadata: [
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '::ffff:a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
} as const

describe('the kind of an address', () => {
  for (const [kind, addresses] of Object.entries(KINDS))
    for (const address of addresses)
      it(`"${address}" is ${kind}`, () => {
        assert.equal(addressKind(address), kind)
      })
})
