import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { readPattern } from '../../network/index.ts'
import { createCertificateAuthority } from './certificate-authority.ts'

const HOSTS = ['api.prov.test', '*.wild.test', 'eu.*.deep.test']
const NOW = new Date()

/** A TLS server that shows whatever certificate its client names, also ones that the constraints forbid. */
async function serve(t: TestContext, hosts: readonly string[] = HOSTS, clock?: () => Date) {
  const authority = createCertificateAuthority(hosts, NOW, clock)
  const server = createServer({ SNICallback: (name, done) => done(null, authority.secureContextFor(name)) })
  server.on('secureConnection', (socket) => socket.on('error', () => {}).end('HTTP/1.1 204 No Content\r\n\r\n'))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const folder = mkdtempSync(join(tmpdir(), 'broker-ca-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, authority.caPem)
  return { authority, port: typeof address === 'object' && address !== null ? address.port : 0, folder, caFile }
}

async function chainFor(port: number, ca: string, host: string): Promise<X509Certificate[]> {
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: host, ca, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const chain: X509Certificate[] = []
  for (let one = socket.getPeerX509Certificate(); one !== undefined; one = one.issuerCertificate) {
    chain.push(one)
    if (one.issuerCertificate?.fingerprint === one.fingerprint) break
  }
  socket.destroy()
  return chain
}

const ALLOWED = ['api.prov.test', 'a.wild.test', 'eu.x.deep.test']
const FORBIDDEN = ['evil.test', 'xapi.prov.test', 'prov.test', 'evilwild.test']

test('Node trusts the certificates of routed hosts and refuses every other name', async (t) => {
  const { port, authority } = await serve(t)
  for (const servername of [...ALLOWED, ...FORBIDDEN]) {
    const socket = connect({ port, host: '127.0.0.1', servername, ca: authority.caPem })
    const [outcome] = await Promise.race([once(socket, 'secureConnect').then(() => ['trusted']), once(socket, 'error')])
    assert.equal(outcome === 'trusted', ALLOWED.includes(servername), servername)
    socket.destroy()
  }
})

test('a leaf lives a day and its authorities a week, each from an hour back and by P-256 keys of its own', async (t) => {
  const { port, authority } = await serve(t)
  const [leaf, intermediate] = await chainFor(port, authority.caPem, 'api.prov.test')
  const root = new X509Certificate(authority.caPem)
  for (const [one, days] of [
    [leaf, 1],
    [intermediate, 7],
    [root, 7],
  ] as const) {
    assert.ok(one !== undefined)
    assert.equal(one.validToDate.getTime() - one.validFromDate.getTime(), days * 24 * 3_600_000)
    assert.ok(one.validFromDate.getTime() <= NOW.getTime() - 3_599_000)
    assert.equal(one.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  }
  assert.equal(leaf?.ca, false)
  assert.equal(leaf?.subjectAltName, 'DNS:api.prov.test')
  assert.ok(intermediate?.checkIssued(root))
})

test('a host is shown another leaf when half of its day is over, by the same authorities', async (t) => {
  let time = NOW
  const { port, authority } = await serve(t, HOSTS, () => time)
  const shown = async (hours: number) => {
    time = new Date(NOW.getTime() + hours * 3_600_000)
    return chainFor(port, authority.caPem, 'api.prov.test')
  }
  const [first, same, later] = [await shown(0), await shown(11), await shown(6 * 24)]
  assert.equal(same[0]?.fingerprint256, first[0]?.fingerprint256)
  assert.notEqual(later[0]?.fingerprint256, first[0]?.fingerprint256)
  assert.equal(later[1]?.fingerprint256, first[1]?.fingerprint256)
  for (const one of later) assert.ok(one.validToDate > time && one.validFromDate <= time)
})

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

test('openssl finds no fault in the chain by its strict rules', { skip: !hasOpenssl }, async (t) => {
  const { port, authority, folder, caFile } = await serve(t)
  for (const host of [...ALLOWED, ...FORBIDDEN]) {
    const [leaf, intermediate] = await chainFor(port, authority.caPem, host)
    writeFileSync(join(folder, 'leaf.pem'), leaf?.toString() ?? '')
    writeFileSync(join(folder, 'intermediate.pem'), intermediate?.toString() ?? '')
    const files = ['-CAfile', caFile, '-untrusted', join(folder, 'intermediate.pem'), join(folder, 'leaf.pem')]
    const options = ['verify', '-x509_strict', '-no-CApath', '-purpose', 'sslserver', '-verify_hostname', host]
    const { status, stderr } = spawnSync('openssl', [...options, ...files], { encoding: 'utf8' })
    assert.equal(status === 0, ALLOWED.includes(host), `${host}: ${stderr}`)
  }
})

test('openssl shows both authorities constrained to the routed hosts, critically', { skip: !hasOpenssl }, async (t) => {
  const { port, authority } = await serve(t)
  const [, intermediate] = await chainFor(port, authority.caPem, 'api.prov.test')
  for (const pem of [authority.caPem, intermediate?.toString()]) {
    const { stdout } = spawnSync('openssl', ['x509', '-noout', '-text'], { input: pem, encoding: 'utf8' })
    assert.match(
      stdout,
      /Name Constraints: critical\s+Permitted:\s+DNS:api\.prov\.test\s+DNS:wild\.test\s+DNS:deep\.test/,
    )
    assert.match(stdout, /Excluded:\s+IP:0\.0\.0\.0\/0\.0\.0\.0\s+IP:0:0:0:0:0:0:0:0\/0:0:0:0:0:0:0:0/)
  }
})

/** Hosts of the definitions that come with Broker. */
function bundledHosts(): readonly string[] {
  const folder = new URL('../../../providers/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const definitions = files.map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')))
  const patterns = definitions.flatMap(({ hosts = [] }) => hosts as string[])
  return [...new Set(patterns.map((pattern) => readPattern(pattern).hostPattern))]
}

// What Java takes of a handshake message, and a whole record of TLS, are 32 and 16 KiB.
const MOST_SHOWN = 8 * 1024

test('every bundled host can have a certificate, whose chain is short however many they are', async (t) => {
  const bundled = bundledHosts()
  const { authority, port } = await serve(t, bundled)
  assert.ok(bundled.length > 500)
  assert.deepEqual(
    bundled.filter((pattern) => !authority.covers(pattern)),
    [],
  )
  assert.equal(authority.covers('evil.test'), false)
  const exact = bundled.filter((pattern) => !pattern.includes('*'))
  for (const servername of [exact[0], exact[Math.floor(exact.length / 2)], exact.at(-1)]) {
    assert.ok(servername)
    const socket = connect({ port, host: '127.0.0.1', servername, ca: authority.caPem })
    await once(socket, 'secureConnect')
    const { raw, issuerCertificate } = socket.getPeerCertificate(true)
    assert.ok(raw.length + issuerCertificate.raw.length < MOST_SHOWN)
    socket.destroy()
  }
})

test('an intermediate has no other names than its own', async (t) => {
  const hosts = Array.from({ length: 120 }, (_, at) => `h${at}.test`)
  const { authority, port } = await serve(t, hosts)
  const chains = await Promise.all(['h0.test', 'h119.test'].map((host) => chainFor(port, authority.caPem, host)))
  const [first, last] = chains.map(([, intermediate]) => intermediate)
  assert.notEqual(first?.subject, last?.subject)
  assert.equal(first?.raw.includes('h0.test'), true)
  assert.equal(first?.raw.includes('h119.test'), false)
  assert.equal(last?.raw.includes('h119.test'), true)
})

const hasPython = spawnSync('python3', ['-c', 'import ssl']).status === 0
const PYTHON = `
import socket, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[1])
context.verify_flags |= ssl.VERIFY_X509_STRICT
with socket.create_connection(('127.0.0.1', int(sys.argv[2]))) as raw:
    context.wrap_socket(raw, server_hostname=sys.argv[3]).close()
`

test('Python trusts a routed host and no other', { skip: !hasPython }, async (t) => {
  const { port, caFile } = await serve(t)
  const trusts = async (host: string) => {
    const { spawn } = await import('node:child_process')
    const [code] = await once(spawn('python3', ['-c', PYTHON, caFile, String(port), host], { stdio: 'ignore' }), 'exit')
    return code === 0
  }
  assert.equal(await trusts('a.wild.test'), true)
  assert.equal(await trusts('evil.test'), false)
})

test('a certificate is minted once for a name', () => {
  const authority = createCertificateAuthority(HOSTS, NOW)
  assert.equal(authority.secureContextFor('a.wild.test'), authority.secureContextFor('a.wild.test'))
})
