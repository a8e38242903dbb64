import type { Socket } from 'node:net'
import { type SecureContext, TLSSocket } from 'node:tls'

/** Ends the TLS of a child's connection with the certificate of `secureContext`, and offers HTTP/1.1 alone. */
export function endTls(child: Socket, secureContext: SecureContext): TLSSocket {
  const socket = new TLSSocket(child, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  // As on the upstream leg: --tls-keylog would write the keys to a file.
  socket.removeAllListeners('keylog')
  return socket
}

/** The server name that the child asked for, as it is: a trailing dot or another spelling is another name. Undefined without one. */
export function askedServerName(socket: TLSSocket): string | undefined {
  const { servername } = socket as TLSSocket & { readonly servername?: string | false | null }
  return typeof servername === 'string' ? servername.toLowerCase() : undefined
}
