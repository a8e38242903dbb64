import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { whyNot } from '../../../tools/available.ts'
import { authority } from '../../network/index.ts'
import { UpstreamTls } from './upstream-tls.ts'

const HOST = 'api.prov.test'
const HELD: readonly (readonly [names: string, subjectAltName: string | undefined, problem: string | undefined])[] = [
  ['a DNS name', `DNS:${HOST}`, undefined],
  ['a wildcard', 'DNS:*.prov.test', undefined],
  ['no name but the common one', undefined, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['an address beside the common name', 'IP:127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a mail address beside the common name', `email:root@${HOST}`, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['a name that ends in a dot', `DNS:${HOST}.`, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['such a name beside a good one', `DNS:${HOST}.,DNS:${HOST}`, undefined],
  ['another name', 'DNS:api.other.test', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]

describe('the certificate of a service', { skip: whyNot('openssl') }, () => {
  for (const [names, subjectAltName, problem] of HELD) {
    it(`with ${names} ${problem === undefined ? 'is' : 'is not'} its own`, async (t) => {
      const { port, cert } = await service(t, subjectAltName)
      const socket = new UpstreamTls([cert]).toService(
        authority(HOST, 443),
        {
          host: '127.0.0.1',
          port,
        },
        ['http/1.1'],
      )

      assert.equal(await outcome(t, socket), problem)
    })
  }
})

async function outcome(t: TestContext, socket: TLSSocket): Promise<unknown> {
  t.after(() => socket.destroy())
  return await once(socket, 'secureConnect').then(
    () => undefined,
    (error) => error.code,
  )
}

/** A service whose common name is {@link HOST}, whatever other names it has. */
async function service(t: TestContext, subjectAltName: string | undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'broker-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = (name: string) => join(folder, name)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file('key')]
  const names = subjectAltName === undefined ? [] : ['-addext', `subjectAltName=${subjectAltName}`]
  execFileSync('openssl', ['req', '-x509', '-subj', `/CN=${HOST}`, ...key, ...names, '-out', file('cert')], {
    stdio: 'ignore',
  })
  const cert = readFileSync(file('cert'), 'utf8')
  const server = createServer({ cert, key: readFileSync(file('key')) }, (socket) => socket.on('error', () => {}))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  return { cert, port: typeof address === 'object' && address !== null ? address.port : 0 }
}
