import { hash, randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Actor, BrokerError, CHANNEL_PROTOCOL } from '../../protocol/index.ts'
import type { Channels } from '../channel/index.ts'
import type { Keys } from '../keys/index.ts'
import { type AuthenticateOptions, authenticate } from './authenticate.ts'
import { errorAnswer } from './error-answer.ts'
import type { RouteMatch } from './match-route.ts'
import { passWalls } from './request-walls.ts'
import type { RawReply } from './route.ts'

export interface SwitchOptions extends AuthenticateOptions {
  readonly channels: Pick<Channels, 'accept'>
  readonly keys: Pick<Keys, 'requireOpen'>
  /** The route of a path, where there is one. */
  readonly match: (method: string, path: string) => RouteMatch | undefined
  /** What every answer carries. */
  readonly headers: Readonly<Record<string, string>>
  /** Hears of each that was refused. */
  readonly onRefused: (requestId: string, error: unknown) => void
}

/** Returns whether a request asks for the protocol of channels; every other protocol is as if it had not been asked for. */
export function isForChannel({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === CHANNEL_PROTOCOL
}

/** Switches a connection to the channel of the run that signed for it: behind the same walls as any request. */
export function switchListener(options: SwitchOptions) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const id = randomUUID()
    switchOver(options, request, { socket, head }).catch((error: unknown) => {
      options.onRefused(id, error)
      const { status, body, headers } = errorAnswer(error, id)
      const all = { ...options.headers, 'content-type': 'application/json', 'x-request-id': id, ...headers }
      endWith(socket, { status, raw: JSON.stringify(body), headers: all })
    })
  }
}

const NO_BODY = hash('sha256', '', 'base64url')

async function switchOver(
  options: SwitchOptions,
  request: IncomingMessage,
  connection: { readonly socket: Duplex; readonly head: Buffer },
): Promise<void> {
  passWalls(request, options.own, 'own pages')
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const found = options.match(request.method ?? '', path)
  if (found?.route.switchesTo !== CHANNEL_PROTOCOL) throw noSuchRoute()
  if (hasBody(request)) throw new BrokerError('InvalidRequestError', 'This route takes no body', { httpStatus: 400 })
  options.keys.requireOpen()
  const { access } = found.route
  const caller = { source: '' }
  const who = await authenticate(options, request, { access, bodySha256: NO_BODY, caller })
  // The contract says that a run or an agent may call it.
  await options.channels.accept(who as Actor, String(found.params['run_id']), connection)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function noSuchRoute(): BrokerError {
  return new BrokerError('NotFoundError', 'There is no such route', { hint: 'See /openapi.json' })
}

/** Answers on a connection that no response object speaks for, and closes it. */
export function endWith(socket: Duplex, { status = 200, raw, headers }: RawReply): void {
  if (!socket.writable) return
  const all = { ...headers, 'content-length': String(Buffer.byteLength(raw ?? '')), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${raw ?? ''}`)
}
