import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { DaemonClient } from '../client/index.ts'
import { BrokerError, httpStatusOf } from '../protocol/index.ts'

/** Name of the socket in its folder. */
const RUN_SOCKET = 'run.sock'

/** Path and protocol by which a `broker run` in the command asks for a run within this one. */
export const INNER_RUN = { path: '/run', protocol: 'broker-run' } as const

/** Path of the socket in a folder of a run. */
export function runSocketIn(folder: string): string {
  return join(folder, RUN_SOCKET)
}

/**
 * What the command of a run may ask the daemon: nothing that hands out a secret, or changes anything. The daemon holds it to the
 * run besides.
 */
const ALLOWED: readonly RegExp[] = [
  /^\/api\/health$/,
  /^\/api\/whoami$/,
  /^\/api\/why$/,
  /^\/api\/connections$/,
  /^\/api\/connections\/[\w.-]+\/[\w.-]+$/,
  /^\/api\/providers$/,
  /^\/api\/providers\/[\w.-]+$/,
  /^\/api\/audit\/events$/,
]

export interface RunSocketOptions {
  readonly folder: string
  /** Signs as the run. */
  readonly broker: Pick<DaemonClient, 'passOn'>
  /** Takes over a connection by which a run within this one is asked for. */
  readonly startInner: (line: Duplex) => void
}

/**
 * The one way from the command of a run to the daemon: HTTP on a socket in a folder that other commands do not see. Requests carry
 * no signature; each is signed as the run.
 */
export async function serveRunSocket({ folder, broker, startInner }: RunSocketOptions): Promise<{ close(): void }> {
  const lines = new Set<Duplex>()
  const server = createServer((request, response) => {
    answer(broker, request, response).catch(() => response.destroy())
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    const isMeant = request.url === INNER_RUN.path && request.headers.upgrade === INNER_RUN.protocol
    if (!isMeant) return void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${INNER_RUN.protocol}\r\n\r\n`)
    lines.add(socket)
    socket.once('close', () => lines.delete(socket))
    startInner(socket)
  })
  // It goes with its run, and keeps nothing alive.
  server.unref()
  await once(server.listen(runSocketIn(folder)), 'listening')
  return {
    close() {
      server.close()
      server.closeAllConnections()
      for (const line of lines) line.destroy()
    },
  }
}

async function answer(
  broker: RunSocketOptions['broker'],
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = ''] = url.split('?', 1)
  if (method !== 'GET' || !ALLOWED.some((pattern) => pattern.test(path))) return refuse(response, NOT_OF_A_RUN)
  try {
    const { status, headers, text } = await broker.passOn(url)
    const { 'content-type': type = 'application/json', 'x-request-id': id } = headers
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', ...(id && { 'x-request-id': id }) })
    response.end(text)
  } catch (error) {
    refuse(
      response,
      error instanceof BrokerError ? error : new BrokerError('InternalError', 'The run cannot ask for this'),
    )
  }
}

const NOT_OF_A_RUN = new BrokerError('OperationNotAllowedError', 'The command of a run may not do this', {
  hint: 'Do it outside of `broker run`.',
})

function refuse(response: ServerResponse, { name, message, options: { hint } }: BrokerError): void {
  const id = randomUUID()
  response.writeHead(httpStatusOf[name], { 'content-type': 'application/json', 'x-request-id': id })
  response.end(JSON.stringify({ error: name, message, request_id: id, ...(hint && { hint }) }))
}
