import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

/** A TCP socket of this machine, as Linux lists it. */
export interface LoopbackSocket {
  /** `0` once no process has it any more. */
  readonly inode: string
  readonly uid: number
}

/** The socket whose own end is `localPort` and whose other end is `remotePort`, both on loopback; undefined where there is none, or nobody knows. */
export function loopbackSocket(localPort: number, remotePort: number): LoopbackSocket | undefined {
  const [local, remote] = [hexPort(localPort), hexPort(remotePort)]
  for (const table of ['/proc/self/net/tcp', '/proc/self/net/tcp6']) {
    for (const line of textOf(table).split('\n').slice(1)) {
      const [, from = '', to = '', , , , , uid = '', , inode = '0'] = line.trim().split(/\s+/)
      const isIt = from.endsWith(local) && to.endsWith(remote) && isLoopback(from) && isLoopback(to)
      if (isIt) return { inode, uid: Number(uid) }
    }
  }
  return undefined
}

/**
 * Tells whether a child that has said its end still has its socket, to read what comes: a half-closed connection looks on the
 * wire like one that was closed, until something is sent. False where the system does not tell.
 */
export function isHalfClosed({ remotePort, localPort }: Socket): boolean {
  if (remotePort === undefined || localPort === undefined) return false
  return (loopbackSocket(remotePort, localPort)?.inode ?? '0') !== '0'
}

function hexPort(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, '0')}`
}

/** The kernel prints each 32 bits of an address in the machine's own order; this is 127.0.0.1, alone and inside IPv6. */
const LOOPBACK = /^(?:0000000000000000FFFF0000)?0100007F:/

function isLoopback(address: string): boolean {
  return LOOPBACK.test(address)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
