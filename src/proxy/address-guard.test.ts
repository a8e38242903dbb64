import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { authority } from '../network/index.ts'
import { createAddressGuard } from './address-guard.ts'

const guard = createAddressGuard([
  authority('127.0.0.1', 7998),
  authority('::1', 7998),
  authority('broker.corp.test', 443),
])

const own = Object.values(networkInterfaces()).flatMap((entries) => entries?.map(({ address }) => address) ?? [])

const DAEMON = [
  '127.0.0.1',
  '127.1.2.3',
  '0.0.0.0',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:7f00:0001',
  'localhost',
  'x.localhost',
  '64:ff9b::127.0.0.1',
  ...own,
]

for (const host of DAEMON) {
  test(`${host} at the daemon’s port is the daemon, at another port it is not`, () => {
    assert.equal(guard(authority(host, 7998)), 'daemon_address')
    assert.equal(guard(authority(host, 7999)), undefined)
  })
}

const METADATA = [
  '169.254.169.254',
  '169.254.170.23',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::23',
  'instance-data.ec2.internal',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  'fd00:ec2::254',
  'fd00:0ec2:0:0:0:0:0:0254',
  'metadata.google.internal',
]

for (const host of METADATA) {
  test(`${host} is a metadata service at every port`, () => {
    assert.equal(guard(authority(host, 80)), 'metadata_address')
    assert.equal(guard(authority(host, 8443)), 'metadata_address')
  })
}

test('other addresses, private ones too, may be dialled', () => {
  for (const host of ['10.0.0.1', '192.168.1.1', '93.184.216.34', '2606:2800::1', 'api.prov.test']) {
    assert.equal(guard(authority(host, 7998)), undefined, host)
  }
})

test('a daemon elsewhere is known by its name and port', () => {
  assert.equal(guard(authority('broker.corp.test', 443)), 'daemon_address')
  assert.equal(guard(authority('broker.corp.test', 444)), undefined)
  assert.equal(guard(authority('127.0.0.1', 443)), undefined)
})
