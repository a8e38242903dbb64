import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** How requests get to the upstream. */
export interface Way {
  readonly name: string
  /** The host they are for. */
  readonly host: string
  /** Absent: straight to `port` on loopback. Present: CONNECT through this proxy, or the inherited one. */
  readonly proxyUrl?: string
  readonly port: number
  /** PEM of the root that the certificate shown must come from. */
  readonly caPem: string
  /** What the client itself sends as its credential. */
  readonly authorization: string
}

/** A verified TLS connection to the host. */
export async function open({ host, proxyUrl, port, caPem }: Way, protocol = 'http/1.1'): Promise<TLSSocket> {
  const socket = proxyUrl === undefined ? connectTcp(port, '127.0.0.1') : await tunnel(new URL(proxyUrl), host)
  const tls = connectTls({ socket, servername: host, ca: caPem, ALPNProtocols: [protocol] })
  tls.setNoDelay(true)
  await once(tls, 'secureConnect')
  return tls
}

async function tunnel({ hostname, port, username, password }: URL, host: string): Promise<Socket> {
  const socket = connectTcp(Number(port), hostname)
  await once(socket, 'connect')
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  const proof = username === '' ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`
  socket.write(`CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n${proof}\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!/^HTTP\/1\.[01] 200 /.test(answer.toString('latin1'))) throw new Error(`CONNECT was refused: ${answer}`)
  return socket
}

export function requestHead(way: Way, method: string, path: string, more = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: ${way.host}\r\nAuthorization: ${way.authorization}\r\nAccept: */*\r\n${more}\r\n`
}
