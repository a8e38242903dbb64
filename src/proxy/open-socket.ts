import type { Socket } from 'node:net'
import { GatheredBytes, HeadSearch } from './http1/index.ts'

/** Resolves with the socket once it is open; destroys it where it does not open in time. */
export function opened<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<S> {
  return settle(socket, signal, (resolve) => {
    const ready = () => resolve(socket)
    socket.once(event, ready)
    return () => socket.off(event, ready)
  })
}

/** Resolves once the proxy answered a CONNECT with 2xx; what it sends behind stays in the socket. */
export function connectAnswer(socket: Socket, signal: AbortSignal): Promise<void> {
  return settle(socket, signal, (resolve, reject) => {
    const answer = new GatheredBytes()
    const search = new HeadSearch()
    const read = (chunk: Buffer) => {
      answer.append(chunk)
      const { bytes } = answer
      const end = search.find(bytes)
      if (end === undefined) return
      socket.off('data', read)
      socket.pause()
      if (typeof end === 'number' && CONNECTED.test(bytes.toString('latin1', 0, 16))) {
        if (bytes.length > end) socket.unshift(bytes.subarray(end))
        resolve()
      } else reject(new ConnectRefused(Number(bytes.toString('latin1', 9, 12))))
    }
    socket.on('data', read)
    return () => socket.off('data', read)
  })
}

/** The proxy answered a CONNECT with another status than 2xx. */
export class ConnectRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super('CONNECT refused')
    this.status = status
  }
}

const CONNECTED = /^HTTP\/1\.[01] 2[0-9]{2}[ \r]/

function settle<T>(
  socket: Socket,
  signal: AbortSignal,
  begin: (resolve: (value: T) => void, reject: (error: Error) => void) => () => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const finish = () => {
      stop()
      socket.off('error', fail)
      socket.off('close', closed)
      signal.removeEventListener('abort', abort)
      // Until its next owner listens, an error must not be an uncaught one; the owner sees `destroyed`.
      socket.on('error', () => {})
    }
    const fail = (error: Error) => {
      finish()
      socket.destroy()
      reject(error)
    }
    const closed = () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    const abort = () => fail(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' }))
    const stop = begin((value) => {
      finish()
      resolve(value)
    }, fail)
    socket.once('error', fail)
    socket.once('close', closed)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })
}
