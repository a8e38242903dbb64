import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { TestContext } from 'node:test'
import { type Script, startScriptedServer } from '../../../test/scripted-oauth-server.ts'
import { createCertificateAuthority } from '../../proxy/tls/certificate-authority.ts'

/** A made-up world with a root of its own for `*.test`. */
const authority = createCertificateAuthority(['*.test'], new Date())

/** That root, PEM. */
export const testRoot = authority.caPem

export async function tlsServer(t: TestContext, host: string, script: Script) {
  const server = await startScriptedServer(script, { host, contextFor: (name) => authority.secureContextFor(name) })
  t.after(() => server.close())
  return server
}

/** A proxy that connects every tunnel to one port of this machine, or refuses all. */
export async function tunnelProxy(t: TestContext, target: number | 'refuses') {
  const targets: string[] = []
  const credentials: (string | undefined)[] = []
  const server = createServer()
  server.on('connect', (request, socket) => {
    targets.push(request.url ?? '')
    credentials.push(request.headers['proxy-authorization'])
    if (target === 'refuses') {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    const upstream = connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
    t.after(() => upstream.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://user:pw-CNRY@127.0.0.1:${port}`, targets, credentials }
}
