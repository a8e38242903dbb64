import type { Socket } from 'node:net'
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import { visibleText } from '../../protocol/index.ts'

const LONGEST = 120

/**
 * Who issued the certificate of a service that is not trusted: asked on a connection of its own, which is verified by nobody
 * and on which nothing is sent. Undefined where it cannot be had.
 * @param opened resolves once the handshake is through
 */
export async function issuerOfUntrusted(
  socket: Socket,
  servername: string,
  opened: (unverified: TLSSocket) => Promise<unknown>,
): Promise<string | undefined> {
  const unverified = connectTls({ socket, servername, rejectUnauthorized: false })
  unverified.removeAllListeners('keylog')
  try {
    await opened(unverified)
    return issuerName(unverified.getPeerCertificate(true))
  } catch {
    return undefined
  } finally {
    unverified.destroy()
  }
}

/** As the uppermost certificate that the service showed names its issuer. */
function issuerName(certificate: DetailedPeerCertificate): string | undefined {
  const { issuer } = uppermost(certificate)
  const parts = [issuer?.CN, issuer?.O].flat().filter((part) => typeof part === 'string')
  const name = visibleText([...new Set(parts)].join(', ')).slice(0, LONGEST)
  return name === '' ? undefined : name
}

/** The chain ends in itself where the root is part of it. */
function uppermost(certificate: DetailedPeerCertificate): DetailedPeerCertificate {
  let top = certificate
  const seen = new Set([top.fingerprint256])
  while (top.issuerCertificate && !seen.has(top.issuerCertificate.fingerprint256)) {
    top = top.issuerCertificate
    seen.add(top.fingerprint256)
  }
  return top
}
