import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'

/** In our order, so that a child which offers both gets HTTP/1.1, and HTTP/2 only one that has nothing else. */
const VERSIONS = ['http/1.1', 'h2']

/** Ends the TLS of a child's connection with the certificate of `secureContext`. */
export function endTls(child: Socket, secureContext: SecureContext): TLSSocket {
  const socket = new TLSSocket(child, { isServer: true, secureContext, ALPNProtocols: VERSIONS })
  // As a server of Node's own does: who reads the socket asks it whether the handshake is over.
  socket.once('secure', () => Object.assign(socket, { secureConnecting: false }))
  // As on the upstream leg: --tls-keylog would write the keys to a file.
  socket.removeAllListeners('keylog')
  return socket
}

/** The server name that the child asked for, as it is: a trailing dot or another spelling is another name. Undefined without one. */
export function askedServerName(socket: TLSSocket): string | undefined {
  const { servername } = socket as TLSSocket & { readonly servername?: string | false | null }
  return typeof servername === 'string' ? servername.toLowerCase() : undefined
}
