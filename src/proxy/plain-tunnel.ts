import type { Socket } from 'node:net'
import type { Authority } from '../network/index.ts'
import { beginsHttp2 } from './http2/index.ts'
import { judgeRequest, recordDenied, TLS_HANDSHAKE } from './intercept.ts'
import { type Judge, relay, relayStreams, type Services } from './relay.ts'
import type { RouteTable } from './route-table.ts'

interface PlainTunnel {
  /** The authority of the CONNECT: the only one that a request on this connection may name. */
  readonly target: Authority
  readonly routes: RouteTable
  /** For plain http. */
  readonly services: Services
  /** What becomes of a connection that begins TLS: it is none of ours. */
  readonly untouched: () => void
}

/**
 * Takes over a connection whose CONNECT was answered with 200, to a server on this machine that is spoken to in the clear:
 * some clients ask for a tunnel for plain http, too.
 */
export function readPlainTunnel(child: Socket, { target, routes, services, untouched }: PlainTunnel): void {
  const gone = () => child.destroy()
  child.once('end', gone)
  child.once('data', (first: Buffer) => {
    child.pause()
    child.unshift(first)
    child.off('end', gone)
    if (first[0] === TLS_HANDSHAKE) return untouched()
    const judge = judgeFor(target, routes, services)
    if (beginsHttp2(first)) relayStreams({ socket: child, scheme: 'http', judge, services })
    else {
      relay({ socket: child, transport: child, judge, services })
      child.resume()
    }
  })
  child.resume()
}

function judgeFor(target: Authority, table: RouteTable, services: Services): Judge {
  return {
    judge: (head) => judgeRequest(head, target, { routes: table.matchPlain(target), defaultPort: 80 }),
    refused: (refusal, head) => recordDenied(services, refusal, target, head),
  }
}
