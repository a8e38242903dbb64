import type { Socket } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect,
  type PeerCertificate,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { LRUCache } from 'lru-cache'
import { type Authority, formatAuthority, trustContext } from '../../network/index.ts'

const MAX_SESSIONS = 256

/** Where the TLS of a service goes: over a socket that is there, or to an address that is still to be dialled. */
type Way = { readonly socket: Socket } | Pick<ConnectionOptions, 'host' | 'port' | 'lookup'>

/** TLS to services, always verified: one set of roots for a run, and the sessions that later handshakes resume. */
export class UpstreamTls {
  readonly #roots: readonly string[]
  readonly #sessions = new LRUCache<string, Buffer>({ max: MAX_SESSIONS })
  #trust: SecureContext | undefined

  /** @param roots further ones (PEM), beside Node's own and the system's */
  constructor(roots: readonly string[]) {
    this.#roots = roots
  }

  /** Begins TLS that speaks one of `versions` with `target`, named as ALPN has them. */
  toService(target: Authority, way: Way, versions: readonly string[]): TLSSocket {
    const key = formatAuthority(target)
    const socket = this.#connect(way, target.host, { ALPNProtocols: versions, session: this.#sessions.get(key) })
    socket.on('session', (session) => {
      if (socket.authorized) this.#sessions.set(key, session)
    })
    return socket
  }

  /** Begins TLS with a corporate proxy. @param servername empty for an address */
  toProxy(way: Way, servername: string): TLSSocket {
    return this.#connect(way, servername, {})
  }

  #connect(way: Way, servername: string, more: ConnectionOptions): TLSSocket {
    this.#trust ??= trustContext(this.#roots)
    const verified = { secureContext: this.#trust, rejectUnauthorized: true, checkServerIdentity: checkNames }
    const socket = connect({ ...way, servername, ...verified, ...more })
    // NODE_OPTIONS=--tls-keylog would write the keys of these connections to a file.
    socket.removeAllListeners('keylog')
    return socket
  }
}

/** By subjectAltName alone (RFC 9525 section 6.3): Node would take the common name where that names no host. */
function checkNames(host: string, certificate: PeerCertificate): Error | undefined {
  const subjectaltname = withoutRootedNames(certificate.subjectaltname ?? '')
  return checkServerIdentity(host, { ...certificate, subjectaltname, subject: { ...certificate.subject, CN: '' } })
}

/** Without names that end in a dot, which RFC 5280 does not have and Node takes for those without. */
function withoutRootedNames(names: string): string {
  // In what is quoted a comma parts nothing.
  if (names.includes('"')) return names
  const kept = names.split(', ').filter((name) => !name.endsWith('.'))
  return kept.join(', ')
}
